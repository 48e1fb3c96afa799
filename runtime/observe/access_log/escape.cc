#include "runtime/observe/access_log/escape.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "runtime/observe/access_log/copy.h"

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
  const bool direction = code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                         (code >= 0x2066 && code <= 0x2069);
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
using Block = signed char __attribute__((vector_size(kBlock)));

/// Adds to `others` what of the bytes is not plain.
void look_at(Block block, Block& others) {
  // As signed bytes what is no ASCII is below the blank, too.
  others |= (block < ' ') | (block == '\x7f') | (block == '"') | (block == '\\');
}

bool none(Block others) {
  std::array<std::uint64_t, 2> words;
  std::memcpy(words.data(), &others, sizeof(words));
  return (words[0] | words[1]) == 0;
}

/// Copies what is shorter than a block. \returns its bytes, some of them twice; the rest is plain.
Block copy_short(std::string_view text, char* at) {
  constexpr std::uint64_t kFill = 0x6161616161616161;
  const std::size_t size = text.size();
  std::array<std::uint64_t, 2> words{kFill, kFill};
  if (size >= 8) {
    words = {copy_word<std::uint64_t>(text.data(), at),
             copy_word<std::uint64_t>(text.data() + size - 8, at + size - 8)};
  } else if (size >= 4) {
    words[0] = copy_word<std::uint32_t>(text.data(), at) |
               std::uint64_t{copy_word<std::uint32_t>(text.data() + size - 4, at + size - 4)} << 32;
  } else {
    // The first, the last and the one between are all of them.
    for (const std::size_t i : {std::size_t{0}, size / 2, size - 1}) {
      words[0] = words[0] << 8 | copy_word<unsigned char>(text.data() + i, at + i);
    }
  }
  Block block;
  std::memcpy(&block, words.data(), sizeof(block));
  return block;
}

/// Copies all of the text, and looks at it on the way: most is plain, and short.
/// \returns whether it is.
bool copy_plain(std::string_view text, char* at) {
  Block others{};
  if (text.size() < kBlock) {
    look_at(copy_short(text, at), others);
    return none(others);
  }
  std::size_t done = 0;
  for (; done + kBlock <= text.size(); done += kBlock) look_at(copy_word<Block>(text.data() + done, at + done), others);
  const std::size_t last = text.size() - kBlock;
  if (done != text.size()) look_at(copy_word<Block>(text.data() + last, at + last), others);
  return none(others);
}

/// Plain bytes at the beginning of `text`.
std::size_t plain_run(std::string_view text) {
  std::size_t run = 0;
  while (run < text.size() && kPlain[byte_at(text, run)]) ++run;
  return run;
}

}  // namespace

char* write_escaped(std::string_view text, LogEscape how, char* at) {
  if (text.empty()) return at;
  if (copy_plain(text, at)) [[likely]]
    return at + text.size();
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
