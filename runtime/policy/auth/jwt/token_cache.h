// Tokens that were found good, so that the next request with one is not checked again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/policy/auth/auth_result.h"
#include "runtime/policy/auth/keyed_digest.h"
#include "runtime/policy/auth/verified_cache.h"
#include "runtime/policy/request_edits.h"

namespace edge::runtime::auth {

/// What a good token leads to.
struct PassedToken {
  RequestEdits request;
  /// The last second, since 1970.
  std::int64_t until = 0;
  std::shared_ptr<const VerifiedClaims> claims{};
};

/// Entries are known by the token, the policy's settings and the generation of the issuer's keys: where a key goes,
/// nothing that it vouched for is found again.
struct TokenCache {
  static constexpr std::size_t kTokens = 16'384;
  /// Bytes of claims that one entry may keep; a token with more is checked each time.
  static constexpr std::size_t kMostKept = 1024;

  DigestKey key;
  VerifiedCache<std::shared_ptr<const PassedToken>> tokens{kTokens};
};

}  // namespace edge::runtime::auth
