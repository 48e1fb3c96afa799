// Requests to the token endpoint and its responses (RFC 6749 §4.1.3, §5.1, §6), and the validation of id tokens (OpenID
// Connect Core §3.1.3.7).
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
  std::string fields;  ///< complete lines
  std::string body;
};
TokenRequest code_request(const OidcClient& client, ClientAuthentication authentication, std::string_view code,
                          std::string_view verifier, std::string_view redirect_uri);
TokenRequest refresh_request(const OidcClient& client, ClientAuthentication authentication,
                             std::string_view refresh_token);

inline constexpr std::size_t kMaxTokenAnswer = std::size_t{128} << 10;

struct TokenAnswer {
  std::string access;
  std::string id;       ///< empty: none, which a refresh may omit
  std::string refresh;  ///< empty: none, or the old one stays valid
  std::optional<std::int64_t> expires_in;
};
/// Parses a response. The error quotes nothing.
Result<TokenAnswer> read_token_answer(std::string_view body);

struct IdTokenRules {
  std::string_view issuer;
  std::string_view client_id;
  /// The nonce of the login; empty for a refresh, whose token may omit it (Core §12.2).
  std::string_view nonce;
  /// For a refresh: the session's subject. Empty for a login.
  std::string_view subject;
  /// The access token of the same response: `at_hash` must match it, if present.
  std::string_view access_token;
  AlgorithmSet algorithms;
};

/// Validates an id token. A token rejected with LoginFault::kKey may become valid with newer keys.
std::variant<Token, LoginFault> verify_id_token(std::string_view text, const KeySet& keys, const IdTokenRules& rules,
                                                std::int64_t unix_now);

/// Returns the error code of an error response (RFC 6749 §5.2), for the log; empty where there is none.
std::string token_error(std::string_view body);

/// Returns the claims of an access token, if it is a JWT of this provider for this client. Other access tokens are
/// opaque.
std::optional<Json> readable_access_token(std::string_view text, const KeySet& keys, const IdTokenRules& rules,
                                          std::int64_t unix_now);

}  // namespace edge::runtime::auth
