// The proxy's own cookies among those of a request (RFC 6265 §4.2).
//
// A sibling host may set cookies for this host too ("cookie tossing"), and a request does not show who set which. So a
// name of the proxy's that occurs twice counts as absent: either of the two may be the attacker's.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/http1/cookies.h"
#include "net/http1/head.h"

namespace edge::runtime::auth {

/// Views into the head.
struct Cookie {
  std::string_view name;
  std::string_view value;
};

/// Returns whether the proxy sets cookies of this name.
bool is_own_cookie(std::string_view name);

class OwnCookies {
 public:
  /// More than the proxy ever sets: beyond it all count as absent.
  static constexpr std::size_t kMax = 24;

  explicit OwnCookies(const net::http1::HeadFields& fields);

  bool none() const { return count_ == 0 && !too_many_; }
  /// Returns the value; nullopt when the cookie is absent, or occurs more than once.
  std::optional<std::string_view> find(std::string_view name) const;
  /// Returns all occurrences, for removing them. The first kMax.
  std::span<const Cookie> all() const { return {cookies_.data(), count_}; }

 private:
  std::size_t count_ = 0;
  bool too_many_ = false;
  std::array<Cookie, kMax> cookies_;
};

/// Returns the Cookie field without the proxy's own cookies, with which a backend could impersonate the user. Empty
/// when nothing remains.
std::string cookies_of_others(const net::http1::HeadFields& fields);
/// The same of one field's value.
std::string cookies_of_others(std::string_view value);

using net::http1::clear_cookie_line;
using net::http1::CookieManner;
using net::http1::set_cookie_line;

}  // namespace edge::runtime::auth
