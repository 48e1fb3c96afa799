// What a provider's tokens say of a user, and what becomes of it: who may pass, and what the backend is told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/policy/auth/json.h"
#include "runtime/policy/auth/oidc/oidc_session.h"
#include "runtime/policy/request_edits.h"

namespace edge::runtime::auth {

/// Adds what `claims` (an object) say and the identity does not say yet: sources are given in the order in which they
/// are believed. Roles are `roles`, and Keycloak's `realm_access.roles` and `resource_access.<client_id>.roles`; groups
/// are `groups`. What is too much, or no text, is left out: that can keep somebody out, never let anybody in.
void add_claims(const Json& claims, std::string_view client_id, OidcIdentity& identity);
/// Roles and groups alone: of an access token, whose other claims are about itself.
void add_memberships(const Json& claims, std::string_view client_id, OidcIdentity& identity);

struct OidcRequirements {
  std::vector<std::string> roles;
  std::vector<std::string> groups;
  /// All of both; else any one of either.
  bool all = false;
};
/// True where nothing is required. A group `/staff`, as Keycloak writes paths, is `staff` too.
bool satisfies(const OidcIdentity& identity, const OidcRequirements& requirements);

/// A header for the backend, and what it is filled with.
struct ForwardedClaim {
  enum class Source : std::uint8_t { kClaim, kRoles, kGroups, kAccessToken, kBearer };
  std::string header;
  std::string claim;
  Source source = Source::kClaim;
};
/// X-Auth-Subject, -Email, -Name, and one for each further header: its claim is the name without `X-Auth-` or `X-`, in
/// lower case with `_` for `-`. `Authorization` gets the access token as a bearer's.
std::vector<ForwardedClaim> forwarded_claims(const std::vector<std::string>& headers);
/// Where the access token rests among the claims; no claim of a provider's gets there.
inline constexpr std::string_view kAccessTokenClaim = " access_token";
/// The same for what tells a session from every other, as long as it lasts.
inline constexpr std::string_view kSessionClaim = " session";

/// Sets each header that there is a value for; incoming ones go in any case.
void forward_claims(const OidcIdentity& identity, const std::vector<ForwardedClaim>& forwarded, RequestEdits& edits);

}  // namespace edge::runtime::auth
