// What the proxy keeps at the client, so that it need keep nothing itself: what is sealed (net/tls/sealing.h), on its
// way into cookies of a size that browsers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/tls/sealing.h"
#include "runtime/policy/auth/oidc/cookies.h"

namespace edge::runtime::auth {

/// Cryptographically random bytes; nullopt when the system gives none.
std::optional<std::string> random_bytes(std::size_t count);
/// In a time that tells nothing but whether the sizes are the same.
bool same_secret(std::string_view a, std::string_view b);

using net::tls::SealPurpose;
using SessionKeys = net::tls::SealingKeys;

/// The specification's name; a long value goes on in `edge_session_1` and so forth.
inline constexpr std::string_view kSessionCookie = "edge_session";
/// Browsers take 4096 bytes of name and value together (RFC 6265bis §5.6), and heads have bounds.
inline constexpr std::size_t kCookieBytes = 3800;
inline constexpr std::size_t kMaxSessionCookies = 4;
inline constexpr std::size_t kMaxSessionText = kCookieBytes * kMaxSessionCookies - 1;
static_assert(kMaxSessionText <= net::tls::SealingKeys::kMaxText);

/// The cookies of a session that a request has: as many as are to be taken away where it ends.
struct SessionCookiesSeen {
  std::size_t count = 0;
  /// A name stands twice: one of the two is not ours, or of another time.
  bool doubled = false;
};
SessionCookiesSeen session_cookies_seen(const OwnCookies& cookies);

/// The value that stands in the session's cookies; nullopt when one is missing, doubled or too large, or there is none.
std::optional<std::string> session_text(const OwnCookies& cookies);
/// Set-Cookie lines with the value (at most kMaxSessionText), and ones that take away what an older, longer one left.
std::string session_cookie_lines(std::string_view text, const SessionCookiesSeen& before, bool secure);
/// Takes away every cookie of a session that the request has.
std::string clear_session_lines(const SessionCookiesSeen& before, bool secure);

}  // namespace edge::runtime::auth
