#include "runtime/policy/rate_limit_counts.h"

namespace edge::runtime {

std::shared_ptr<RateLimitTally> RateLimitCounts::of(const std::string& policy) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<RateLimitTally>& tally = tallies_[policy];
  if (tally == nullptr) tally = std::make_shared<RateLimitTally>();
  return tally;
}

std::vector<RateLimitCount> RateLimitCounts::counts() {
  const std::lock_guard lock(mutex_);
  std::erase_if(tallies_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::vector<RateLimitCount> all;
  for (const auto& [policy, tally] : tallies_) all.push_back({policy, tally->passed(), tally->limited()});
  return all;
}

}  // namespace edge::runtime
