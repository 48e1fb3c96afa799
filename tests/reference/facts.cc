#include "tests/reference/facts.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace edge::reference {
namespace {

/// application/x-www-form-urlencoded: `+` is a space; a `%` without two digits stands for itself.
std::string decode(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      result += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

std::optional<std::string_view> look_up(const std::map<std::string, std::string, std::less<>>& map,
                                        std::string_view key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

}  // namespace

Facts::Facts(const OwnedRequest& request, Claimed claimed) : request_(request), claimed_(std::move(claimed)) {
  for (const auto& [name, value] : request.headers) {
    const auto [position, fresh] = headers_.try_emplace(ascii_lower(name), value);
    if (!fresh) position->second += ", " + value;
  }
  for (const auto& [name, value] : request.claims) {
    const auto [position, fresh] = claims_.try_emplace(name, value);
    if (!fresh) position->second += "," + value;
  }
  std::string_view rest = request.query;
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = equals == pair.size() ? std::string_view() : pair.substr(equals + 1);
    query_.try_emplace(decode(pair.substr(0, equals)), decode(value));
  }
}

std::optional<std::string_view> Facts::header(const std::string& name) const {
  const auto found = claimed_.find(name);
  return found == claimed_.end() ? look_up(headers_, name) : claim(found->second);
}
std::optional<std::string_view> Facts::query(const std::string& key) const { return look_up(query_, key); }

std::optional<std::string_view> Facts::claim(const std::string& name) const { return look_up(claims_, name); }

bool Facts::has_item(const std::string& claim, const std::string& item) const {
  return std::ranges::find(request_.claims, std::pair(claim, item)) != request_.claims.end();
}

bool Facts::path_below(std::string_view prefix) const {
  std::string_view path = request_.path;
  if (!path.starts_with('/')) return false;
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

}  // namespace edge::reference
