// RateLimit: a number of requests in a time for each value of a key; further ones are answered 429.
// docs/rate-limiting.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/read.h"
#include "runtime/policy/policy_request.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/policy/rate_limit_table.h"
#include "runtime/policy/request_key.h"
#include "runtime/policy/shared_limits.h"

namespace edge::runtime {

/// One limit of a policy. Immutable; threads: any.
class RateLimit {
 public:
  /// A limit that is the same in the next program, by the name of its policy and its settings, keeps its buckets.
  RateLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
            const program::RateRecord& settings, bool shared = false);

  /// Returns whether the agents of a controller count together.
  bool shared() const { return shared_; }
  const Rate& rate() const { return rate_; }
  const RequestKey& key() const { return key_; }

 private:
  Rate rate_;
  RequestKey key_;
  bool shared_;
};

/// The limits of one policy, or those of them that are applied at one point of a request.
struct RateLimitGroup {
  static constexpr std::size_t kMost = 8;

  std::vector<const RateLimit*> limits;
  int status = 429;
  RateLimitTally* tally = nullptr;  ///< null: not counted
  bool counts_passes = true;        ///< false: the policy's limits behind authentication count what passes

  /// Takes a token from the bucket of every limit, or from none: a request that one limit refuses is not charged to the
  /// others. Of several limits that refuse, the one that lasts longest answers. `shared`: for limits that are shared.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request, const VerifiedClient* client,
                                   RateLimitTable& table, SharedLimits* shared = nullptr) const;
};

}  // namespace edge::runtime
