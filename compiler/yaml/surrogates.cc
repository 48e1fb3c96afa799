#include "compiler/yaml/surrogates.h"

#include <charconv>
#include <cstdint>

#include <nlohmann/json.hpp>

namespace edge::compiler::yaml {
namespace {

constexpr std::size_t kPair = std::string_view("\\ud83d\\ude00").size();

/// The value of `\uXXXX` at `at`; 0 when there is none, which is no surrogate.
std::uint32_t unit_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return 0;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at + 2, text.data() + at + 6, value, 16);
  return error == std::errc() && end == text.data() + at + 6 ? value : 0;
}

/// The character of the pair at `at`, or 0.
std::uint32_t pair_at(std::string_view text, std::size_t at) {
  const std::uint32_t high = unit_at(text, at);
  if (high < 0xd800 || high > 0xdbff) return 0;
  const std::uint32_t low = unit_at(text, at + 6);
  if (low < 0xdc00 || low > 0xdfff) return 0;
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

}  // namespace

std::optional<std::string> join_surrogates(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return std::nullopt;
  if (text.find("\\uD") == std::string_view::npos && text.find("\\ud") == std::string_view::npos) return std::nullopt;
  // In YAML of another style the same bytes may mean themselves. Of JSON one thing is certain: a backslash stands in a
  // string, and begins an escape.
  if (!nlohmann::json::accept(text)) return std::nullopt;
  std::string joined(text);
  for (std::size_t at = joined.find('\\'); at != std::string::npos; at = joined.find('\\', at)) {
    const std::uint32_t point = pair_at(text, at);
    if (point == 0) {
      at += 2;
      continue;
    }
    std::string character = "\\\n\\U00000000";
    for (std::size_t digit = kPair - 1, rest = point; rest != 0; --digit, rest >>= 4) {
      character[digit] = "0123456789abcdef"[rest & 0xf];
    }
    joined.replace(at, kPair, character);
    at += kPair;
  }
  return joined;
}

}  // namespace edge::compiler::yaml
