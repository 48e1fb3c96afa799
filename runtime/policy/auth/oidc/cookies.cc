#include "runtime/policy/auth/oidc/cookies.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace edge::runtime::auth {
namespace {

using net::http1::HeadFields;

/// Set by this host alone, and over TLS alone (RFC 6265bis §4.1.3.2).
constexpr std::string_view kHostPrefix = "__Host-";
constexpr std::string_view kOwnPrefixes[] = {"edge_session", "edge_login"};

/// Of a head's fields, or of one value.
template <typename Cookies>
std::string others_of(const Cookies& cookies) {
  std::string others;
  net::http1::for_each_cookie(cookies, [&](std::string_view pair, std::string_view name) {
    if (is_own_cookie(name)) return;
    if (!others.empty()) others += "; ";
    others += pair;
  });
  return others;
}

}  // namespace

bool is_own_cookie(std::string_view name) {
  if (name.starts_with(kHostPrefix)) name.remove_prefix(kHostPrefix.size());
  return std::ranges::any_of(kOwnPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

OwnCookies::OwnCookies(const HeadFields& fields) {
  net::http1::for_each_cookie(fields, [this](std::string_view pair, std::string_view name) {
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

std::string cookies_of_others(const HeadFields& fields) { return others_of(fields); }
std::string cookies_of_others(std::string_view value) { return others_of(value); }

}  // namespace edge::runtime::auth
