// ConcurrencyLimit: a number of requests in progress at once for each value of a key; further ones are refused.
// docs/concurrency-limits.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "program/read.h"
#include "runtime/policy/concurrency_table.h"
#include "runtime/policy/policy_request.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/policy/request_key.h"

namespace edge::runtime {

/// One limit of a policy. Immutable; threads: any.
class ConcurrencyLimit {
 public:
  /// A limit with the same policy and keys in the next program has the same counts: requests that began before still
  /// count, and a changed number holds for those that begin.
  ConcurrencyLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
                   const program::ConcurrencyRecord& settings);

  const RequestKey& key() const { return key_; }
  std::uint64_t most() const { return most_; }

 private:
  RequestKey key_;
  std::uint64_t most_;
};

/// The limits of one policy, or those of them that are applied at one point of a request.
struct ConcurrencyGroup {
  std::vector<const ConcurrencyLimit*> limits;
  int status = 503;
  RateLimitTally* tally = nullptr;  ///< null: not counted
  bool counts_passes = true;        ///< false: the policy's limits behind authentication count what passes

  /// Takes a place in the count of every limit, or in none. `permit` has them then, and what it had before.
  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request, const VerifiedClient* client,
                                   ConcurrencyTable& table, std::optional<ConcurrencyPermit>& permit) const;
};

}  // namespace edge::runtime
