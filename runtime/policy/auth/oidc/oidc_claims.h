// What a provider's tokens say of a user, and its use: authorization, and headers for the backend.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/policy/auth/json.h"
#include "runtime/policy/auth/oidc/oidc_session.h"
#include "runtime/policy/request_edits.h"

namespace edge::runtime::auth {

/// Adds the claims (an object) that the identity does not have yet: sources are passed in order of precedence. Roles
/// are `roles`, and Keycloak's `realm_access.roles` and `resource_access.<client_id>.roles`; groups are `groups`.
/// Claims beyond the limits or that are not text are dropped: that can only deny access, never grant it.
void add_claims(const Json& claims, std::string_view client_id, OidcIdentity& identity);
/// Adds roles and groups only: for an access token, whose other claims describe the token.
void add_memberships(const Json& claims, std::string_view client_id, OidcIdentity& identity);

struct OidcRequirements {
  std::vector<std::string> roles;
  std::vector<std::string> groups;
  /// All roles and groups are required; else any one of them.
  bool all = false;
};
/// Returns whether a user meets the requirements; true without any. A group `/staff`, as Keycloak writes paths, equals
/// `staff`.
bool satisfies(const OidcIdentity& identity, const OidcRequirements& requirements);

/// A header for the backend, and its source.
struct ForwardedClaim {
  enum class Source : std::uint8_t { kClaim, kRoles, kGroups, kAccessToken, kBearer };
  std::string header;
  std::string claim;
  Source source = Source::kClaim;
};
/// Returns X-Auth-Subject, -Email, -Name, and one for each further header: its claim is the name without `X-Auth-` or
/// `X-`, in lower case with `_` for `-`. `Authorization` gets the access token as a Bearer token.
std::vector<ForwardedClaim> forwarded_claims(const std::vector<std::string>& headers);
/// The claim name under which the access token is stored; no claim of a provider can have it.
inline constexpr std::string_view kAccessTokenClaim = " access_token";
/// The same for the session's id.
inline constexpr std::string_view kSessionClaim = " session";

/// Sets each header that has a value; the client's own headers of these names are removed in any case.
void forward_claims(const OidcIdentity& identity, const std::vector<ForwardedClaim>& forwarded, RequestEdits& edits);

}  // namespace edge::runtime::auth
