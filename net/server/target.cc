#include "net/server/target.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"

namespace edge::net::server {
namespace {

constexpr std::size_t kMaxParameters = 64;

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  return out;
}

}  // namespace

std::optional<std::string> decode_path(std::string_view text) { return decode(text, false); }

std::optional<FieldList> decode_query(std::string_view text) {
  FieldList query;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    if (query.size() == kMaxParameters) return std::nullopt;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = decode(pair.substr(0, equals), true);
    std::optional<std::string> value = decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) return std::nullopt;
    query.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

}  // namespace edge::net::server
