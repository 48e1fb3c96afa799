// Any bytes as what a provider answers: its document, its tokens, what it says of a user.
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/policy/auth/oidc/oidc_claims.h"
#include "runtime/policy/auth/oidc/oidc_discovery.h"
#include "runtime/policy/auth/oidc/oidc_tokens.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::runtime::auth;

void check(const OidcProvider& provider) {
  require(provider.issuer == "https://id.example" && !provider.algorithms.empty());
  require(provider.authorization_endpoint.starts_with("https://"));
  require(provider.token_endpoint.secure && provider.jwks_uri.secure);
  require(provider.end_session_endpoint.empty() || provider.end_session_endpoint.starts_with("https://"));
  require(provider.authorization_endpoint.find_first_of("\r\n \"") == std::string::npos);
}

void check(const OidcIdentity& identity) {
  require(identity.claims.size() < OidcIdentity::kMaxClaims);
  require(identity.roles.size() <= OidcIdentity::kMaxMemberships);
  require(identity.claim(kAccessTokenClaim).empty());
  require(read_identity(write_identity(identity)) == identity);
  for (const ClaimText& claim : identity.claims) require(claim.value.find_first_of("\r\n") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto provider = read_discovery(bytes, "https://id.example"); provider.ok()) check(*provider);
  if (const auto answer = read_token_answer(bytes); answer.ok()) {
    require(!answer->access.empty() && answer->access.find_first_of("\r\n ") == std::string::npos);
  }
  if (const auto url = discovery_url(bytes.substr(0, 300)); url.ok()) require(!url->host.empty());
  if (const auto claims = read_json(bytes); claims.ok()) {
    OidcIdentity identity;
    add_claims(*claims, "shop", identity);
    check(identity);
  }
  return 0;
}
