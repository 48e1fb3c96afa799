// Who is logged in, as it rests in the session cookie: what the provider's tokens said, in the form that requests need.
//
// Two parts, sealed one by one: the identity, which every request opens, and the tokens, which are wanted when the
// session is refreshed or ended. The second opens only beside the first that it was made with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/policy/auth/oidc/session_cookie.h"

namespace edge::runtime::auth {

/// A claim as a field of HTTP would have it.
struct ClaimText {
  std::string name;
  std::string value;
  friend bool operator==(const ClaimText&, const ClaimText&) = default;
};

/// Times are seconds since 1970.
struct OidcIdentity {
  static constexpr std::size_t kMaxClaims = 64;
  static constexpr std::size_t kMaxMemberships = 512;

  std::int64_t expires = 0;  ///< of what the provider said; a refresh makes it later
  /// From then on a request has it refreshed, though it is good still: what comes of that ends no session. 0: at its
  /// expiry.
  std::int64_t refresh_from = 0;
  std::int64_t ends = 0;  ///< the whole session, however often it is refreshed
  std::vector<ClaimText> claims;
  std::vector<std::string> roles;
  std::vector<std::string> groups;

  /// Empty when there is none.
  std::string_view claim(std::string_view name) const;
  friend bool operator==(const OidcIdentity&, const OidcIdentity&) = default;
};

struct OidcTokens {
  std::string refresh;  ///< empty: the session cannot be refreshed
  std::string id;       ///< tells the provider whose session is to be ended; empty: not kept
  friend bool operator==(const OidcTokens&, const OidcTokens&) = default;
};

/// Bytes and back. Reading is total: nullopt for whatever `write` would not have written.
std::string write_identity(const OidcIdentity& identity);
std::optional<OidcIdentity> read_identity(std::string_view bytes);
std::string write_tokens(const OidcTokens& tokens);
std::optional<OidcTokens> read_tokens(std::string_view bytes);

/// The text of the session's cookies. `bound_to`: provider and client, and what else must be the same when it is read.
/// When it would be too large the id token is left out. nullopt when it is too large even so, or nothing can be sealed.
std::optional<std::string> seal_session(const SessionKeys& keys, std::string_view bound_to,
                                        const OidcIdentity& identity, const OidcTokens& tokens);
/// Says nothing of expiry.
std::optional<OidcIdentity> open_identity(const SessionKeys& keys, std::string_view bound_to, std::string_view text);
std::optional<OidcTokens> open_tokens(const SessionKeys& keys, std::string_view bound_to, std::string_view text);

}  // namespace edge::runtime::auth
