// A user's session as stored in the session cookie: the contents of the provider's tokens that requests need.
//
// Two parts, encrypted separately: the identity, which every request decrypts, and the tokens, which are needed to
// refresh or end the session. The second can be decrypted only together with its first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/policy/auth/oidc/session_cookie.h"

namespace edge::runtime::auth {

/// A claim in the form of a field value.
struct ClaimText {
  std::string name;
  std::string value;
  friend bool operator==(const ClaimText&, const ClaimText&) = default;
};

/// Times are seconds since 1970.
struct OidcIdentity {
  static constexpr std::size_t kMaxClaims = 64;
  static constexpr std::size_t kMaxMemberships = 512;

  std::int64_t expires = 0;  ///< expiry of the provider's tokens; a refresh extends it
  /// From then on a request refreshes the session although it is still valid: a failure does not end it. 0: refreshed
  /// at expiry.
  std::int64_t refresh_from = 0;
  std::int64_t ends = 0;  ///< the end of the session, including refreshes
  std::vector<ClaimText> claims;
  std::vector<std::string> roles;
  std::vector<std::string> groups;

  /// Returns a claim; empty when there is none.
  std::string_view claim(std::string_view name) const;
  friend bool operator==(const OidcIdentity&, const OidcIdentity&) = default;
};

struct OidcTokens {
  std::string refresh;  ///< empty: the session cannot be refreshed
  std::string id;       ///< sent to the provider at logout to name the session; empty: not stored
  friend bool operator==(const OidcTokens&, const OidcTokens&) = default;
};

/// Serialisation. Parsing is total: nullopt for anything that `write` would not have written.
std::string write_identity(const OidcIdentity& identity);
std::optional<OidcIdentity> read_identity(std::string_view bytes);
std::string write_tokens(const OidcTokens& tokens);
std::optional<OidcTokens> read_tokens(std::string_view bytes);

/// Returns the text of the session's cookies. `bound_to`: provider, client, and everything else that must be the same
/// when it is decrypted. Omits the id token when it would be too large. nullopt when it is too large even so, or
/// encryption fails.
std::optional<std::string> seal_session(const SessionKeys& keys, std::string_view bound_to,
                                        const OidcIdentity& identity, const OidcTokens& tokens);
/// Decrypts the identity; does not check expiry.
std::optional<OidcIdentity> open_identity(const SessionKeys& keys, std::string_view bound_to, std::string_view text);
std::optional<OidcTokens> open_tokens(const SessionKeys& keys, std::string_view bound_to, std::string_view text);

}  // namespace edge::runtime::auth
