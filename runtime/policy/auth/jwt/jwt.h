// JSON Web Tokens (RFC 7519, RFC 8725): verification of signature and claims.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/policy/auth/json.h"
#include "runtime/policy/auth/jwt/jose.h"
#include "runtime/policy/auth/jwt/jwk.h"

namespace edge::runtime::auth {

/// The requirements on a token.
struct TokenRules {
  std::string issuer;
  /// Accepted audiences; empty: any.
  std::vector<std::string> audience{};
  AlgorithmSet algorithms{};
  /// Allowed clock skew between the issuer and this machine, in seconds.
  std::int64_t skew = 60;
};

/// A verified token.
struct Token {
  Json claims;
  Algorithm algorithm = Algorithm::kRs256;
  std::string key_id;
  /// The last second in which the token is accepted, including the skew; since 1970.
  std::int64_t until = 0;
};

/// Verifies the signature first: claims of an unsigned token are not even parsed. `exp` is required (*safe*): without
/// it a leaked token would be valid forever.
std::variant<Token, TokenFault> verify_token(std::string_view token, const KeySet& keys, const TokenRules& rules,
                                             std::int64_t unix_now);

/// Returns `iss` of a token that nobody has verified, to find who could; nullopt: it has none that can be read.
std::optional<std::string> unverified_issuer(std::string_view token);

/// Checks the claims only, as if the token's signature had been verified.
TokenFault check_claims(const Json& claims, const TokenRules& rules, std::int64_t unix_now);

}  // namespace edge::runtime::auth
