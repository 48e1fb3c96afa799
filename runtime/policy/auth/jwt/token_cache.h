// Caches verified tokens, so that further requests with one are not verified again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/auth/keyed_digest.h"
#include "runtime/policy/auth/verified_cache.h"
#include "runtime/policy/request_edits.h"

namespace edge::runtime::auth {

/// The result of a valid token.
struct PassedToken {
  RequestEdits request;
  /// The last second of its validity, since 1970.
  std::int64_t until = 0;
  std::shared_ptr<const VerifiedClaims> claims{};
  std::shared_ptr<const MatchedClaims> matched{};
};

/// Keyed by the token, the policy's settings and the generation of the issuer's keys: when a key is removed, tokens
/// verified with it are not found any more.
struct TokenCache {
  static constexpr std::size_t kTokens = 16'384;
  /// Bytes of claims that one entry may store; a token with more is verified each time.
  static constexpr std::size_t kMostKept = 1024;

  DigestKey key;
  VerifiedCache<std::shared_ptr<const PassedToken>> tokens{kTokens};
};

}  // namespace edge::runtime::auth
