#include "runtime/policy/auth/oidc/oidc_claims.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/policy/auth/jwt/jwt_policy.h"

namespace edge::runtime::auth {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxValueBytes = 1024;
/// All claims of a session together: cookies are small.
constexpr std::size_t kMaxClaimBytes = 4096;
constexpr std::size_t kMaxMembershipBytes = 6144;

/// Of the token and of the login (RFC 7519 §4.1, OpenID Connect Core §2), of no use behind the proxy; and what roles
/// and groups are taken from.
constexpr std::string_view kNotKept[] = {
    "iss",    "aud",          "exp",       "iat", "nbf", "jti", "nonce", "azp",    "at_hash",      "c_hash",
    "s_hash", "sid",          "auth_time", "acr", "amr", "typ", "roles", "groups", "realm_access", "resource_access",
    "scope",  "session_state"};

bool kept(std::string_view name) {
  return !name.empty() && name.front() != ' ' && name.size() <= kMaxNameBytes &&
         std::ranges::find(kNotKept, name) == std::end(kNotKept);
}

/// Could end a field's line, or be read as something else than is there.
bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) {
    // One with a comma in it would be two to whoever reads the list.
    if (one.find(',') != std::string::npos) continue;
    if (!text.empty()) text += ",";
    text += one;
  }
  return text;
}

std::size_t size_of(const std::vector<std::string>& all) {
  std::size_t size = 0;
  for (const std::string& one : all) size += one.size() + 2;
  return size;
}

void add_membership(std::optional<std::string_view> name, std::vector<std::string>& to) {
  if (!name || name->empty() || name->size() > kMaxValueBytes || has_control(*name)) return;
  if (to.size() == OidcIdentity::kMaxMemberships || size_of(to) + name->size() > kMaxMembershipBytes) return;
  if (std::ranges::find(to, *name) == to.end()) to.emplace_back(*name);
}

/// A list of names, or one name.
void add_all(const Json* names, std::vector<std::string>& to) {
  if (names == nullptr) return;
  add_membership(names->text(), to);
  for (const Json& item : names->items()) add_membership(item.text(), to);
}

bool is_member(const std::vector<std::string>& of, std::string_view wanted) {
  return std::ranges::find(of, wanted) != of.end();
}
bool in_group(const std::vector<std::string>& groups, std::string_view wanted) {
  return std::ranges::any_of(groups, [&](std::string_view group) {
    return group == wanted || (group.starts_with('/') && group.substr(1) == wanted);
  });
}

}  // namespace

void add_memberships(const Json& claims, std::string_view client_id, OidcIdentity& identity) {
  add_all(claims.find("roles"), identity.roles);
  if (const Json* const realm = claims.find("realm_access")) add_all(realm->find("roles"), identity.roles);
  if (const Json* const resources = claims.find("resource_access")) {
    // A member by its whole name: clients may have dots in theirs.
    if (const Json* const own = resources->find(client_id)) add_all(own->find("roles"), identity.roles);
  }
  add_all(claims.find("groups"), identity.groups);
}

void add_claims(const Json& claims, std::string_view client_id, OidcIdentity& identity) {
  add_memberships(claims, client_id, identity);
  std::size_t size = 0;
  for (const ClaimText& claim : identity.claims) size += claim.name.size() + claim.value.size();
  // Anybody may type another's address where the provider does not ask whether it is theirs (Core §5.7).
  const Json* const verified = claims.find("email_verified");
  const bool mail_is_doubtful = verified != nullptr && verified->boolean() != true && verified->text() != "true";
  for (const Json::Member& member : claims.members()) {
    if (!kept(member.name) || !identity.claim(member.name).empty()) continue;
    if (member.name == "email" && mail_is_doubtful) continue;
    std::string text = claim_text(member.value);
    if (text.empty() || text.size() > kMaxValueBytes) continue;
    size += member.name.size() + text.size();
    // Two places are the access token's and the session's own.
    if (size > kMaxClaimBytes || identity.claims.size() + 2 >= OidcIdentity::kMaxClaims) return;
    identity.claims.push_back({member.name, std::move(text)});
  }
}

bool satisfies(const OidcIdentity& identity, const OidcRequirements& requirements) {
  if (requirements.roles.empty() && requirements.groups.empty()) return true;
  const auto has_role = [&](std::string_view role) { return is_member(identity.roles, role); };
  const auto has_group = [&](std::string_view group) { return in_group(identity.groups, group); };
  if (requirements.all) {
    return std::ranges::all_of(requirements.roles, has_role) && std::ranges::all_of(requirements.groups, has_group);
  }
  return std::ranges::any_of(requirements.roles, has_role) || std::ranges::any_of(requirements.groups, has_group);
}

std::vector<ForwardedClaim> forwarded_claims(const std::vector<std::string>& headers) {
  std::vector<ForwardedClaim> forwarded = {
      {"X-Auth-Subject", "sub"}, {"X-Auth-Email", "email"}, {"X-Auth-Name", "name"}};
  using Source = ForwardedClaim::Source;
  for (const std::string& header : headers) {
    std::string claim;
    for (const char c : header) claim.push_back(c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
    if (claim == "x_auth_subject" || claim == "x_auth_email" || claim == "x_auth_name") continue;
    Source source = claim == "authorization" ? Source::kBearer : Source::kClaim;
    for (const std::string_view prefix : {"x_auth_", "x_"}) {
      if (!claim.starts_with(prefix)) continue;
      claim.erase(0, prefix.size());
      break;
    }
    if (claim == "roles") source = Source::kRoles;
    if (claim == "groups") source = Source::kGroups;
    if (claim == "access_token") source = Source::kAccessToken;
    forwarded.push_back({header, std::move(claim), source});
  }
  return forwarded;
}

void forward_claims(const OidcIdentity& identity, const std::vector<ForwardedClaim>& forwarded, RequestEdits& edits) {
  using Source = ForwardedClaim::Source;
  for (const ForwardedClaim& one : forwarded) {
    switch (one.source) {
      case Source::kClaim:
        edits.set(one.header, identity.claim(one.claim));
        break;
      case Source::kRoles:
        edits.set(one.header, joined(identity.roles));
        break;
      case Source::kGroups:
        edits.set(one.header, joined(identity.groups));
        break;
      case Source::kAccessToken:
        edits.set(one.header, identity.claim(kAccessTokenClaim));
        break;
      case Source::kBearer: {
        const std::string_view token = identity.claim(kAccessTokenClaim);
        edits.set(one.header, token.empty() ? std::string() : std::string("Bearer ").append(token));
        break;
      }
    }
  }
}

}  // namespace edge::runtime::auth
