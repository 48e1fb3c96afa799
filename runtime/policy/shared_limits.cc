#include "runtime/policy/shared_limits.h"

#include <algorithm>
#include <random>

namespace edge::runtime {
namespace {

constexpr std::uint32_t kMostRequests = 1'000'000'000;

std::uint64_t own_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace

SharedLimits::SharedLimits() : seed_(own_seed()) {}

void SharedLimits::set(std::vector<std::pair<std::uint64_t, Rate>> limits) {
  const std::lock_guard lock(limits_mutex_);
  limits_.clear();
  for (auto& [id, rate] : limits) limits_.emplace(id, rate);
  any_ = !limits_.empty();
}

std::uint32_t SharedLimits::share(net::Time now) const {
  const std::uint32_t members = members_.load(std::memory_order_relaxed);
  if (members <= 1) return 1;
  const net::Time heard{net::Duration(heard_.load(std::memory_order_relaxed))};
  return now - heard <= kContact ? 1 : members;
}

void SharedLimits::note(std::uint64_t limit, std::uint64_t key, net::Time now) {
  // What passes out of contact is within this agent's share: telling it later would charge it twice.
  const bool alone = members_.load(std::memory_order_relaxed) <= 1;
  if (alone || share(now) != 1) return;
  Shard& shard = shards_[(key >> 32) % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.uses.find(key);
  if (found != shard.uses.end()) {
    if (found->second.requests < kMostRequests) ++found->second.requests;
  } else if (shard.uses.size() < kMostPending / shards_.size()) {
    shard.uses.emplace(key, SharedUse{limit, key, 1});
  } else {
    untold_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::vector<SharedUse> SharedLimits::take(std::size_t most) {
  std::vector<SharedUse> taken;
  const std::lock_guard taking(taking_);
  // Each time from where the last one ended: no shard waits for another.
  for (std::size_t i = 0; i < shards_.size() && taken.size() < most; ++i) {
    Shard& shard = shards_[next_shard_];
    const std::lock_guard lock(shard.mutex);
    while (!shard.uses.empty() && taken.size() < most) {
      const auto first = shard.uses.begin();
      taken.push_back(first->second);
      shard.uses.erase(first);
    }
    if (shard.uses.empty()) next_shard_ = (next_shard_ + 1) % shards_.size();
  }
  return taken;
}

void SharedLimits::apply(const SharedNews& news, net::Time now, RateLimitTable& table) {
  const std::uint32_t members = std::clamp<std::uint32_t>(news.members, 1, kMostMembers);
  if (news.seed != 0) seed_ = news.seed;
  members_ = members;
  heard_ = now.time_since_epoch().count();
  const std::lock_guard lock(limits_mutex_);
  for (const SharedUse& use : news.uses) {
    const auto limit = limits_.find(use.limit);
    if (limit == limits_.end() || use.requests == 0) continue;
    table.charge(limit->second, use.key, use.requests, members, kContact, now);
  }
}

}  // namespace edge::runtime
