// RateLimit: so many requests a second for each value of a key, the rest is answered 429. docs/rate-limiting.md.
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
  /// A policy that is the same in the next program, by name and by settings, goes on with the same buckets.
  RateLimit(const program::SectionView& policies, const program::PolicyRecord& policy,
            const program::RateLimitRecord& settings);

  /// What it says is counted there.
  void tell(std::shared_ptr<RateLimitTally> tally) { tally_ = std::move(tally); }

  std::optional<PolicyAnswer> pass(const PolicyRequest& policy_request, RateLimitTable& table) const;

  /// Counts by a claim of a token, which somebody has to verify first.
  bool by_claim() const { return key_ == program::RateKey::kJwtClaim; }
  const std::string& claim() const { return name_; }
  /// `value`: of the claim, in a token that was verified; null: it has none.
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
