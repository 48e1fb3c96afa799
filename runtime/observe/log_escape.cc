#include "runtime/observe/log_escape.h"

#include <array>
#include <cstring>

namespace edge::runtime {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
/// U+FFFD.
constexpr std::string_view kNoCharacter = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned byte = 0x20; byte < 0x7f; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

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

char* write_bytes(std::string_view bytes, char* at) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    *at++ = '\\';
    *at++ = 'x';
    *at++ = kHex[byte_at(bytes, i) >> 4];
    *at++ = kHex[byte_at(bytes, i) & 15];
  }
  return at;
}

/// `\uHHHH`: what is dangerous is no more than four digits.
char* write_code(std::uint32_t code, char* at) {
  *at++ = '\\';
  *at++ = 'u';
  for (int shift = 12; shift >= 0; shift -= 4) *at++ = kHex[code >> shift & 15];
  return at;
}

char* write_as_is(std::string_view text, char* at) {
  std::memcpy(at, text.data(), text.size());
  return at + text.size();
}

char* write_character(const Character& character, std::string_view bytes, LogEscape how, char* at) {
  const bool json = how == LogEscape::kJson;
  if (!character.valid) return json ? write_as_is(kNoCharacter, at) : write_bytes(bytes, at);
  if (dangerous(character.code)) return json ? write_code(character.code, at) : write_bytes(bytes, at);
  if (character.code != '"' && character.code != '\\') return write_as_is(bytes, at);
  if (!json) return write_bytes(bytes, at);
  *at++ = '\\';
  return write_as_is(bytes, at);
}

constexpr std::size_t kBlock = 16;

/// Whether a block is. Without a branch in it, so that a compiler makes vectors of it.
bool plain_block(const char* block) {
  unsigned char other = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto byte = static_cast<unsigned char>(block[i]);
    other |= static_cast<unsigned char>((byte < 0x20) | (byte >= 0x7f) | (byte == '"') | (byte == '\\'));
  }
  return other == 0;
}

/// Plain bytes at the beginning of `text`.
std::size_t plain_run(std::string_view text) {
  std::size_t run = 0;
  while (run + kBlock <= text.size() && plain_block(text.data() + run)) run += kBlock;
  // The last block may begin in the one before it.
  if (run != 0 && text.size() - run < kBlock && plain_block(text.data() + text.size() - kBlock)) return text.size();
  while (run < text.size() && kPlain[byte_at(text, run)]) ++run;
  return run;
}

}  // namespace

char* write_escaped(std::string_view text, LogEscape how, char* at) {
  while (!text.empty()) {
    const std::size_t run = plain_run(text);
    at = write_as_is(text.substr(0, run), at);
    text.remove_prefix(run);
    if (text.empty()) break;
    const Character character = character_at(text, 0);
    at = write_character(character, text.substr(0, character.size), how, at);
    text.remove_prefix(character.size);
  }
  return at;
}

}  // namespace edge::runtime
