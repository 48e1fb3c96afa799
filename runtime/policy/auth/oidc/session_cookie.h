// What the proxy keeps at the client, so that it need keep nothing itself: bytes that only an agent with the session
// secret can read or make (AES-256-GCM, RFC 5116), and their way into cookies of a size that browsers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/policy/auth/oidc/cookies.h"

namespace edge::runtime::auth {

/// Cryptographically random bytes; nullopt when the system gives none.
std::optional<std::string> random_bytes(std::size_t count);
/// In a time that tells nothing but whether the sizes are the same.
bool same_secret(std::string_view a, std::string_view b);

/// What is sealed for one purpose opens for no other.
enum class SealPurpose : std::uint8_t {
  kSession,  ///< who the user is
  kTokens,   ///< the provider's tokens, of a session
  kLogin,    ///< a login that has been begun
};

/// The keys of a session secret, and of the one before it. Immutable; shared by the threads.
///
/// A nonce is 96 random bits, so one secret should seal no more than 2^32 times (NIST SP 800-38D §8.3): thousands of
/// logins a second for ten days, and far longer at any usual rate.
class SessionKeys {
 public:
  static constexpr std::size_t kSecretSize = 32;

  /// Keys by HKDF-SHA256 (RFC 5869), one a purpose. `previous`: what was `current` before, whose cookies still open;
  /// empty: none. Fails when a secret is of another size.
  static Result<SessionKeys> derive(std::string_view current, std::string_view previous);
  ~SessionKeys();
  SessionKeys(SessionKeys&&) noexcept;
  SessionKeys& operator=(SessionKeys&&) noexcept;

  /// In the alphabet of cookies (base64url). `bound_to` must be given again to open it. nullopt when the system gives
  /// no random bytes.
  std::optional<std::string> seal(SealPurpose purpose, std::string_view bound_to, std::string_view plain) const;
  /// nullopt for anything but what `seal` made with the current secret or the previous one.
  std::optional<std::string> open(SealPurpose purpose, std::string_view bound_to, std::string_view sealed) const;

 private:
  struct Impl;
  explicit SessionKeys(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The specification's name; a long value goes on in `edge_session_1` and so forth.
inline constexpr std::string_view kSessionCookie = "edge_session";
/// Browsers take 4096 bytes of name and value together (RFC 6265bis §5.6), and heads have bounds.
inline constexpr std::size_t kCookieBytes = 3800;
inline constexpr std::size_t kMaxSessionCookies = 4;
inline constexpr std::size_t kMaxSessionText = kCookieBytes * kMaxSessionCookies - 1;

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
