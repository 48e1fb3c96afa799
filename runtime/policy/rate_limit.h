// RateLimit: a number of requests per second for each value of a key; further ones are answered 429.
// docs/rate-limiting.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "program/read.h"
#include "runtime/policy/policy_request.h"
#include "runtime/policy/rate_limit_counts.h"
#include "runtime/policy/rate_limit_table.h"

namespace edge::runtime {

class RateLimit {
 public:
  /// A policy that is the same in the next program, by name and settings, keeps its buckets.
  RateLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
            const program::RateLimitRecord& settings);

  /// Sets the counters of its decisions.
  void tell(std::shared_ptr<RateLimitTally> tally) { tally_ = std::move(tally); }

  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request, RateLimitTable& table) const;

  /// Returns whether it counts by a claim of a verified token.
  bool by_claim() const { return key_ == program::RateKey::kJwtClaim; }
  const std::string& claim() const { return name_; }
  /// Applies the limit. `value`: of the claim, in a verified token; null: the token does not have it.
  std::optional<PolicyAnswer> pass_claim(const std::string* value, net::Time now, RateLimitTable& table) const;

 private:
  std::optional<PolicyAnswer> take(std::uint64_t bucket, net::Time now, RateLimitTable& table) const;
  std::uint64_t begin_hash(std::uint64_t seed) const;
  std::uint64_t bucket_of(const PolicyRequest& policy_request, std::uint64_t seed) const;

  std::uint64_t identity_;
  Rate rate_;
  program::RateKey key_;
  std::string name_;
  std::shared_ptr<RateLimitTally> tally_;
};

}  // namespace edge::runtime
