#include "runtime/policy/auth/oidc/cookies.h"

#include <algorithm>

#include "base/ascii.h"

namespace edge::runtime::auth {
namespace {

using net::http1::HeadFields;
using net::http1::KnownField;

/// Set by this host alone, and over TLS alone (RFC 6265bis §4.1.3.2).
constexpr std::string_view kHostPrefix = "__Host-";
constexpr std::string_view kOwnPrefixes[] = {"edge_session", "edge_login"};

/// Calls `visit` with the text of each pair and its name. Browsers send one Cookie field; HTTP/2 may send many.
template <typename Visit>
void for_each_pair(const HeadFields& fields, Visit visit) {
  if (!fields.has(KnownField::kCookie)) return;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kCookie) continue;
    std::string_view rest = fields[i].value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = trim_blanks(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!pair.empty()) visit(pair, trim_blanks(pair.substr(0, pair.find('='))));
    }
  }
}

}  // namespace

bool is_own_cookie(std::string_view name) {
  if (name.starts_with(kHostPrefix)) name.remove_prefix(kHostPrefix.size());
  return std::ranges::any_of(kOwnPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

OwnCookies::OwnCookies(const HeadFields& fields) {
  for_each_pair(fields, [this](std::string_view pair, std::string_view name) {
    if (!is_own_cookie(name)) return;
    if (count_ == kMax) {
      too_many_ = true;
      return;
    }
    const std::size_t equals = pair.find('=');
    cookies_[count_++] = {name,
                          equals == std::string_view::npos ? std::string_view{} : trim_blanks(pair.substr(equals + 1))};
  });
}

std::optional<std::string_view> OwnCookies::find(std::string_view name) const {
  if (too_many_) return std::nullopt;
  std::optional<std::string_view> found;
  for (const Cookie& cookie : all()) {
    if (cookie.name != name) continue;
    if (found) return std::nullopt;
    found = cookie.value;
  }
  return found;
}

std::string cookies_of_others(const HeadFields& fields) {
  std::string others;
  for_each_pair(fields, [&](std::string_view pair, std::string_view name) {
    if (is_own_cookie(name)) return;
    if (!others.empty()) others += "; ";
    others += pair;
  });
  return others;
}

std::string set_cookie_line(std::string_view name, std::string_view value, const CookieManner& manner) {
  std::string line = "Set-Cookie: ";
  line.append(name).append("=").append(value).append("; Path=/");
  if (manner.max_age >= 0) line.append("; Max-Age=").append(std::to_string(manner.max_age));
  // Lax: the provider sends the browser back by a link from another site, and a strict cookie would stay away.
  line.append("; HttpOnly; SameSite=Lax");
  if (manner.secure) line.append("; Secure");
  return line.append("\r\n");
}

std::string clear_cookie_line(std::string_view name, bool secure) {
  return set_cookie_line(name, {}, {.secure = secure, .max_age = 0});
}

}  // namespace edge::runtime::auth
