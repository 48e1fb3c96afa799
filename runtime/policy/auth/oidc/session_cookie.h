// State stored at the client, so that the proxy needs none: encrypted values (net/tls/sealing.h), split into cookies of
// a size that browsers accept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/tls/sealing.h"
#include "runtime/policy/auth/oidc/cookies.h"

namespace edge::runtime::auth {

/// Returns cryptographically random bytes; nullopt when the system provides none.
std::optional<std::string> random_bytes(std::size_t count);
/// Compares in constant time; reveals only whether the sizes are equal.
bool same_secret(std::string_view a, std::string_view b);

using net::tls::SealPurpose;
using SessionKeys = net::tls::SealingKeys;

/// The name in the specification; a long value continues in `edge_session_1` and so on.
inline constexpr std::string_view kSessionCookie = "edge_session";
/// Browsers accept 4096 bytes of name and value together (RFC 6265bis §5.6), and the size of heads is limited.
inline constexpr std::size_t kCookieBytes = 3800;
inline constexpr std::size_t kMaxSessionCookies = 4;
inline constexpr std::size_t kMaxSessionText = kCookieBytes * kMaxSessionCookies - 1;
static_assert(kMaxSessionText <= net::tls::SealingKeys::kMaxText);

/// The session cookies of a request: which ones to delete when the session ends.
struct SessionCookiesSeen {
  std::size_t count = 0;
  /// A name occurs twice: one of the two is not the proxy's, or is outdated.
  bool doubled = false;
};
SessionCookiesSeen session_cookies_seen(const OwnCookies& cookies);

/// Returns the value in the session's cookies; nullopt when one is missing, duplicate or too large, or there is none.
std::optional<std::string> session_text(const OwnCookies& cookies);
/// Returns Set-Cookie lines for the value (at most kMaxSessionText), and lines that delete the rest of an older, longer
/// one.
std::string session_cookie_lines(std::string_view text, const SessionCookiesSeen& before, bool secure);
/// Returns lines that delete every session cookie of the request.
std::string clear_session_lines(const SessionCookiesSeen& before, bool secure);

}  // namespace edge::runtime::auth
