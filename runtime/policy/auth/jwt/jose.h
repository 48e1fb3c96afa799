// Parses and verifies signed tokens in compact form (RFC 7515 §7.1), with keys from a trusted source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/policy/auth/jwt/jwk.h"

namespace edge::runtime::auth {

/// Why a token is rejected. Only kUnknownKey may change with other keys.
enum class TokenFault : std::uint8_t {
  kNone,
  kTooLarge,
  kMalformed,   ///< not three parts in strict base64url, or an invalid header
  kAlgorithm,   ///< `none`, an unknown one, or one that is not allowed here
  kCritical,    ///< its `crit` header requires an extension that is not supported
  kUnknownKey,  ///< no key has its id, or fits its algorithm
  kSignature,
  kClaims,  ///< not an object, or a claim has another type than in RFC 7519
  kIssuer,
  kAudience,
  kNoExpiry,
  kExpired,
  kNotYet,  ///< `nbf` or `iat` is in the future
};
/// Returns a text for the log and `error_description`: ASCII, without quotes and backslashes.
std::string_view fault_text(TokenFault fault);

inline constexpr std::size_t kMaxTokenBytes = std::size_t{16} << 10;
inline constexpr std::size_t kMaxTokenHeaderBytes = std::size_t{4} << 10;

/// A parsed token, not yet verified.
struct Jws {
  Algorithm algorithm = Algorithm::kRs256;
  std::string key_id;  ///< empty: the token names none
  /// The signed part of the token's text.
  std::string_view signed_text;
  std::string payload;
  std::string signature;
};

/// Parses a token. Views of `out` point into `token`. Of the header's members only `alg`, `kid` and `crit` are used: a
/// key or a key's URL in a token is ignored (RFC 8725 §3.5, §3.10).
TokenFault read_jws(std::string_view token, Jws& out);

/// Verifies the signature with the key that the token names, or, where it names none, with each that fits, up to a few.
TokenFault verify_jws(const Jws& jws, const KeySet& keys, AlgorithmSet allowed);

}  // namespace edge::runtime::auth
