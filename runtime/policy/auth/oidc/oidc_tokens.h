// What the token endpoint is asked and what it answers (RFC 6749 §4.1.3, §5.1, §6), and when an id token is believed
// (OpenID Connect Core §3.1.3.7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "runtime/policy/auth/jwt/jwt.h"
#include "runtime/policy/auth/oidc/login_faults.h"
#include "runtime/policy/auth/oidc/oidc_discovery.h"

namespace edge::runtime::auth {

struct OidcClient {
  std::string id;
  std::string secret;
};

/// A request to the token endpoint.
struct TokenRequest {
  std::string fields;  ///< whole lines
  std::string body;
};
TokenRequest code_request(const OidcClient& client, ClientAuthentication authentication, std::string_view code,
                          std::string_view verifier, std::string_view redirect_uri);
TokenRequest refresh_request(const OidcClient& client, ClientAuthentication authentication,
                             std::string_view refresh_token);

inline constexpr std::size_t kMaxTokenAnswer = std::size_t{128} << 10;

struct TokenAnswer {
  std::string access;
  std::string id;       ///< empty: none, as a refresh may have it
  std::string refresh;  ///< empty: none, or the old one goes on
  std::optional<std::int64_t> expires_in;
};
/// The error quotes nothing.
Result<TokenAnswer> read_token_answer(std::string_view body);

struct IdTokenRules {
  std::string_view issuer;
  std::string_view client_id;
  /// What the login sent; empty for a refresh, whose token need not have one (Core §12.2).
  std::string_view nonce;
  /// Of a refresh: who the session is of. Empty for a login.
  std::string_view subject;
  /// What came beside it: `at_hash` must be of this one, where it is there.
  std::string_view access_token;
  AlgorithmSet algorithms;
};

/// What is not believed for LoginFault::kKey may become right with newer keys.
std::variant<Token, LoginFault> verify_id_token(std::string_view text, const KeySet& keys, const IdTokenRules& rules,
                                                std::int64_t unix_now);

/// The error's name in what the endpoint answers instead (RFC 6749 §5.2), for a log; empty where it is none.
std::string token_error(std::string_view body);

/// The claims of an access token, where it is a JWT of this provider for this client. Others are the provider's own
/// affair, and say nothing to us.
std::optional<Json> readable_access_token(std::string_view text, const KeySet& keys, const IdTokenRules& rules,
                                          std::int64_t unix_now);

}  // namespace edge::runtime::auth
