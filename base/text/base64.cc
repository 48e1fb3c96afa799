#include "base/text/base64.h"

#include <array>
#include <cstdint>

namespace edge {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t kNone = 64;

constexpr std::array<std::uint8_t, 256> values(std::string_view digits) {
  std::array<std::uint8_t, 256> table{};
  table.fill(kNone);
  for (std::uint8_t i = 0; i < kNone; ++i) table[static_cast<unsigned char>(digits[i])] = i;
  return table;
}
constexpr auto kValues = values(kDigits);
constexpr auto kUrlValues = values(kUrlDigits);

std::string encode(std::string_view bytes, std::string_view digits) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t held = 0;
  int bits = 0;
  for (const char byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    for (bits += 8; bits >= 6; bits -= 6) text += digits[held >> (bits - 6) & 63];
  }
  if (bits != 0) text += digits[held << (6 - bits) & 63];
  return text;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text = encode(bytes, kDigits);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t held = 0;
  int bits = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const std::uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNone || padding != 0) return std::nullopt;
    ++digits;
    held = held << 6 | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 255);
  }
  if (padding > 2 || (digits + padding) % 4 != 0) return std::nullopt;
  return bytes;
}

std::string to_base64url(std::string_view bytes) { return encode(bytes, kUrlDigits); }

std::optional<std::string> from_base64url(std::string_view text) {
  const std::size_t rest = text.size() % 4;
  if (rest == 1) return std::nullopt;
  std::string bytes(text.size() / 4 * 3 + (rest == 0 ? 0 : rest - 1), '\0');
  // Whatever is no digit has a bit that no digit has: one look at the end is enough.
  std::uint8_t seen = 0;
  const auto digit = [&](std::size_t i) {
    const std::uint8_t value = kUrlValues[static_cast<unsigned char>(text[i])];
    seen |= value;
    return std::uint32_t{value};
  };
  std::size_t at = 0;
  std::size_t to = 0;
  for (; at + 4 <= text.size(); at += 4) {
    const std::uint32_t held = digit(at) << 18 | digit(at + 1) << 12 | digit(at + 2) << 6 | digit(at + 3);
    bytes[to++] = static_cast<char>(held >> 16 & 255);
    bytes[to++] = static_cast<char>(held >> 8 & 255);
    bytes[to++] = static_cast<char>(held & 255);
  }
  if (rest != 0) {
    const std::uint32_t held = digit(at) << 18 | digit(at + 1) << 12 | (rest == 3 ? digit(at + 2) << 6 : 0);
    bytes[to++] = static_cast<char>(held >> 16 & 255);
    if (rest == 3) bytes[to++] = static_cast<char>(held >> 8 & 255);
    const std::uint32_t over = rest == 3 ? held & 0xff : held & 0xffff;
    if (over != 0) return std::nullopt;
  }
  if ((seen & kNone) != 0) return std::nullopt;
  return bytes;
}

}  // namespace edge
