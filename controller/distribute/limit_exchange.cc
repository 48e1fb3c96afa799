#include "controller/distribute/limit_exchange.h"

#include <algorithm>
#include <limits>

namespace edge::controller {

LimitExchange::Member LimitExchange::join(const std::string& name, std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  if (seed_ == 0) seed_ = seed;
  Member& member = by_name_[name];
  members_.erase(member);
  member = ++last_;
  members_[member].name = name;
  return member;
}

void LimitExchange::leave(Member member) {
  const std::lock_guard lock(mutex_);
  const auto found = members_.find(member);
  if (found == members_.end()) return;
  by_name_.erase(found->second.name);
  members_.erase(found);
}

void LimitExchange::report(Member member, std::span<const LimitUse> uses) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  const std::lock_guard lock(mutex_);
  if (!members_.contains(member)) return;
  for (auto& [other, waiting] : members_) {
    if (other == member) continue;
    ++waiting.untaken;
    if (!listens(waiting)) {
      waiting.uses = {};
      continue;
    }
    for (const LimitUse& use : uses) {
      const auto found = waiting.uses.find(use.key);
      if (found != waiting.uses.end() && found->second.limit == use.limit) {
        found->second.requests += std::min(use.requests, kMost - found->second.requests);
      } else if (found == waiting.uses.end() && waiting.uses.size() < kMostWaiting) {
        waiting.uses.emplace(use.key, use);
      }
    }
  }
}

LimitExchange::News LimitExchange::take(Member member) {
  const std::lock_guard lock(mutex_);
  News news{.seed = seed_};
  const auto found = members_.find(member);
  if (found != members_.end()) {
    found->second.untaken = 0;
    auto& uses = found->second.uses;
    while (!uses.empty() && news.uses.size() < kMostTold) {
      news.uses.push_back(uses.begin()->second);
      uses.erase(uses.begin());
    }
  }
  news.members = static_cast<std::uint32_t>(
      std::ranges::count_if(members_, [this](const auto& one) { return listens(one.second); }));
  return news;
}

}  // namespace edge::controller
