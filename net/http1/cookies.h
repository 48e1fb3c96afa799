// Cookies in heads (RFC 6265 §4): parsing those of a request, and lines that set them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/text/ascii.h"
#include "net/http1/head.h"

namespace edge::net::http1 {

/// Calls `visit(pair, name)` with the text of each pair and its name, of one Cookie field's value.
template <typename Visit>
void for_each_cookie(std::string_view value, Visit&& visit) {
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(';'), value.size());
    const std::string_view pair = trim_blanks(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
    if (!pair.empty()) visit(pair, trim_blanks(pair.substr(0, pair.find('='))));
  }
}

/// The same for a head. Browsers send one Cookie field; over HTTP/2 there may be several.
template <typename Visit>
void for_each_cookie(const HeadFields& fields, Visit visit) {
  if (!fields.has(KnownField::kCookie)) return;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) == KnownField::kCookie) for_each_cookie(std::string_view(fields[i].value), visit);
  }
}

/// The attributes of a cookie that the proxy sets.
struct CookieManner {
  /// Secure: sent over TLS only.
  bool secure = false;
  /// Seconds; -1: a session cookie.
  int max_age = -1;
  std::string_view path = "/";
};

/// Returns a complete Set-Cookie line.
std::string set_cookie_line(std::string_view name, std::string_view value, const CookieManner& manner);
/// Returns a line that deletes the cookie.
std::string clear_cookie_line(std::string_view name, bool secure);

}  // namespace edge::net::http1
