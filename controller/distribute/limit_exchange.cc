#include "controller/distribute/limit_exchange.h"

#include <algorithm>
#include <limits>

namespace edge::controller {

LimitExchange::Member LimitExchange::join(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  if (seed_ == 0) seed_ = seed;
  waiting_[++last_];
  return last_;
}

void LimitExchange::leave(Member member) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(member);
}

void LimitExchange::report(Member member, std::span<const LimitUse> uses) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::lock_guard lock(mutex_);
  for (auto& [other, waiting] : waiting_) {
    if (other == member) continue;
    for (const LimitUse& use : uses) {
      const auto found = waiting.find(use.key);
      if (found != waiting.end() && found->second.limit == use.limit) {
        found->second.requests += std::min(use.requests, kMost - found->second.requests);
      } else if (found == waiting.end() && waiting.size() < kMostWaiting) {
        waiting.emplace(use.key, use);
      } else {
        ++left_out_;
      }
    }
  }
}

LimitExchange::News LimitExchange::take(Member member) {
  const std::lock_guard lock(mutex_);
  News news{.seed = seed_, .members = static_cast<std::uint32_t>(waiting_.size())};
  const auto found = waiting_.find(member);
  if (found == waiting_.end()) return news;
  auto& waiting = found->second;
  while (!waiting.empty() && news.uses.size() < kMostTold) {
    news.uses.push_back(waiting.begin()->second);
    waiting.erase(waiting.begin());
  }
  return news;
}

std::uint64_t LimitExchange::left_out() const {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

}  // namespace edge::controller
