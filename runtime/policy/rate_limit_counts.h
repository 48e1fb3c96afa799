// Counts the decisions of rate and concurrency limits, by policy name. Kept across programs, while one has the policy.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace edge::runtime {

/// The counters of one policy, shared by all threads; spread over several cache lines by key, so that threads seldom
/// contend.
class RateLimitTally {
 public:
  void count(std::uint64_t key, bool passed) {
    Shard& shard = shards_[key % shards_.size()];
    (passed ? shard.passed : shard.limited).fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t passed() const { return sum(&Shard::passed); }
  std::uint64_t limited() const { return sum(&Shard::limited); }

 private:
  struct alignas(64) Shard {
    std::atomic<std::uint64_t> passed{0};
    std::atomic<std::uint64_t> limited{0};
  };
  std::uint64_t sum(std::atomic<std::uint64_t> Shard::* member) const {
    std::uint64_t total = 0;
    for (const Shard& shard : shards_) total += (shard.*member).load(std::memory_order_relaxed);
    return total;
  }
  std::array<Shard, 8> shards_;
};

struct RateLimitCount {
  std::string policy;  ///< `namespace/name`
  std::uint64_t passed = 0;
  std::uint64_t limited = 0;
};

/// Threads: any.
class RateLimitCounts {
 public:
  std::shared_ptr<RateLimitTally> of(const std::string& policy);
  /// Returns the counts, ascending by name. Removes those whose policy is gone.
  std::vector<RateLimitCount> counts();

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<RateLimitTally>> tallies_;
};

}  // namespace edge::runtime
