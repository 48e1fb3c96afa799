// The cookies that the proxy itself has set, among those that a request carries (RFC 6265 §4.2).
//
// A sibling of our host may set cookies for it too ("cookie tossing"), and nothing in the request tells who set which.
// So a name of ours that stands twice counts as absent: whichever of the two is right, the other may be the attacker's.
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

/// Whether the proxy would set a cookie of this name.
bool is_own_cookie(std::string_view name);

class OwnCookies {
 public:
  /// More of them than the proxy ever sets: all count as absent.
  static constexpr std::size_t kMax = 24;

  explicit OwnCookies(const net::http1::HeadFields& fields);

  bool none() const { return count_ == 0 && !too_many_; }
  /// nullopt when it is absent, or there more than once.
  std::optional<std::string_view> find(std::string_view name) const;
  /// Each as often as it stands, for those who take them away. The first kMax.
  std::span<const Cookie> all() const { return {cookies_.data(), count_}; }

 private:
  std::size_t count_ = 0;
  bool too_many_ = false;
  std::array<Cookie, kMax> cookies_;
};

/// The value of the Cookie field without the proxy's own, which are no backend's business: with them it could go on as
/// its user elsewhere. Empty when nothing is left.
std::string cookies_of_others(const net::http1::HeadFields& fields);

using net::http1::clear_cookie_line;
using net::http1::CookieManner;
using net::http1::set_cookie_line;

}  // namespace edge::runtime::auth
