#include "runtime/observe/log_escape.h"

#include <cstddef>

namespace edge::runtime {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
/// U+FFFD.
constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

bool plain(unsigned byte) { return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\'; }

struct Character {
  std::size_t size = 1;
  /// Nothing: the bytes are no UTF-8 (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF).
  std::uint32_t code = 0;
  bool valid = false;
};

Character character_at(std::string_view text, std::size_t i) {
  const unsigned first = byte_at(text, i);
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (size == 1) return {1, first, first < 0x80};
  if (first > 0xf4 || i + size > text.size()) return {};
  std::uint32_t code = first & (0xffu >> (size + 1));
  for (std::size_t k = 1; k < size; ++k) {
    const unsigned next = byte_at(text, i + k);
    if ((next & 0xc0u) != 0x80) return {};
    code = code << 6 | (next & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[size] || surrogate || code > 0x10ffff) return {};
  return {size, code, true};
}

bool dangerous(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction =
      code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || separator || direction;
}

void append_bytes(std::string_view bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out.append("\\x").push_back(kHex[byte_at(bytes, i) >> 4]);
    out.push_back(kHex[byte_at(bytes, i) & 15]);
  }
}

void append_code(std::uint32_t code, std::string& out) {
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[code >> shift & 15]);
}

}  // namespace

void append_escaped(std::string_view text, LogEscape how, std::string& out) {
  const bool json = how == LogEscape::kJson;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t run = i;
    while (run < text.size() && plain(byte_at(text, run))) ++run;
    out.append(text.substr(i, run - i));
    i = run;
    if (i == text.size()) return;
    const Character character = character_at(text, i);
    const std::string_view bytes = text.substr(i, character.size);
    i += character.size;
    if (!character.valid) {
      json ? static_cast<void>(out.append(kNoCharacter)) : append_bytes(bytes, out);
    } else if (dangerous(character.code)) {
      json ? append_code(character.code, out) : append_bytes(bytes, out);
    } else if (character.code == '"' || character.code == '\\') {
      json ? static_cast<void>(out.append("\\").append(bytes)) : append_bytes(bytes, out);
    } else {
      out.append(bytes);
    }
  }
}

}  // namespace edge::runtime
