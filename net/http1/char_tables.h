// Byte classes of RFC 9110 and RFC 3986, as tables.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace edge::net::http1 {

enum CharClass : std::uint8_t {
  kTokenChar = 1,   ///< tchar, RFC 9110 §5.6.2
  kHostChar = 2,    ///< allowed in a uri-host with its port, RFC 3986 §3.2.2; no userinfo
  kTargetChar = 4,  ///< visible ASCII without `#` and `?`
};

inline constexpr std::array<std::uint8_t, 256> kCharClasses = [] {
  std::array<std::uint8_t, 256> table{};
  const auto mark = [&table](std::string_view chars, CharClass bit) {
    for (const char c : chars) table[static_cast<std::uint8_t>(c)] |= bit;
  };
  constexpr std::string_view kAlphaNum = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  mark(kAlphaNum, kTokenChar);
  mark("!#$%&'*+-.^_`|~", kTokenChar);
  mark(kAlphaNum, kHostChar);
  mark("-._~!$&'()*+,;=%:[]", kHostChar);
  for (unsigned c = 0x21; c < 0x7f; ++c) {
    if (c != '#' && c != '?') table[c] |= kTargetChar;
  }
  return table;
}();

inline bool is_class(char c, CharClass bit) { return (kCharClasses[static_cast<std::uint8_t>(c)] & bit) != 0; }

inline bool all_of_class(std::string_view text, CharClass bit) {
  for (const char c : text) {
    if (!is_class(c, bit)) return false;
  }
  return true;
}

/// Returns whether a byte is not allowed in a field value: controls but HTAB (RFC 9110 §5.5). Bytes from 0x80 on are
/// obs-text and allowed.
inline bool is_control(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

}  // namespace edge::net::http1
