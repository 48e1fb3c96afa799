// JSON Web Tokens (RFC 7519, RFC 8725): a signed token whose claims hold for somebody, here and now.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/policy/auth/json.h"
#include "runtime/policy/auth/jwt/jose.h"
#include "runtime/policy/auth/jwt/jwk.h"

namespace edge::runtime::auth {

/// What a token must say to be taken.
struct TokenRules {
  std::string issuer;
  /// Any of them; empty: whoever it is for.
  std::vector<std::string> audience{};
  AlgorithmSet algorithms{};
  /// By how much the issuer's clock and ours may differ, seconds.
  std::int64_t skew = 60;
};

/// One that is believed.
struct Token {
  Json claims;
  Algorithm algorithm = Algorithm::kRs256;
  std::string key_id;
  /// The last second in which it is taken, the skew counted in. Since 1970.
  std::int64_t until = 0;
};

/// Signature first: of a token that nobody signed not even the claims are read. `exp` is needed (*safe*): without it
/// nothing ends a token that has leaked.
std::variant<Token, TokenFault> verify_token(std::string_view token, const KeySet& keys, const TokenRules& rules,
                                             std::int64_t unix_now);

/// The claims of a token alone, as if it had been found signed.
TokenFault check_claims(const Json& claims, const TokenRules& rules, std::int64_t unix_now);

}  // namespace edge::runtime::auth
