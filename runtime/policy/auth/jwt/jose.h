// Signed tokens in their compact form (RFC 7515 §7.1), taken apart and checked by keys that somebody else named.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/policy/auth/jwt/jwk.h"

namespace edge::runtime::auth {

/// Why a token is not taken. Everything but kUnknownKey stays so, whatever keys come.
enum class TokenFault : std::uint8_t {
  kNone,
  kTooLarge,
  kMalformed,   ///< not of three parts in strict base64url, or a header that is not one
  kAlgorithm,   ///< `none`, one that is not known, or one that is not allowed here
  kCritical,    ///< it must be understood by an extension that nobody here knows
  kUnknownKey,  ///< no key has its id, or fits its algorithm
  kSignature,
  kClaims,  ///< not an object, or a claim of another type than RFC 7519 gives it
  kIssuer,
  kAudience,
  kNoExpiry,
  kExpired,
  kNotYet,  ///< `nbf` or `iat` lies ahead
};
/// For the log and `error_description`: ASCII, without quotes and backslashes.
std::string_view fault_text(TokenFault fault);

inline constexpr std::size_t kMaxTokenBytes = std::size_t{16} << 10;
inline constexpr std::size_t kMaxTokenHeaderBytes = std::size_t{4} << 10;

/// One that is read, not yet believed.
struct Jws {
  Algorithm algorithm = Algorithm::kRs256;
  std::string key_id;  ///< empty: it names none
  /// Of the token's text: what is signed.
  std::string_view signed_text;
  std::string payload;
  std::string signature;
};

/// Views of `out` point into `token`. Of the header's members only `alg`, `kid` and `crit` have a meaning here: a key
/// that a token brings with it, or says where to fetch, is nobody's (RFC 8725 §3.5, §3.10).
TokenFault read_jws(std::string_view token, Jws& out);

/// By the key that the token names, or, where it names none, by each that fits, of which few are tried.
TokenFault verify_jws(const Jws& jws, const KeySet& keys, AlgorithmSet allowed);

}  // namespace edge::runtime::auth
