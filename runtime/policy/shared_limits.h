// Rate limits of scope Cluster: what this process has let pass and has not told the others yet, and what is known of
// them. Requests never wait for an exchange: they are counted here, and told later. docs/rate-limiting.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/clock.h"
#include "runtime/policy/rate_limit_table.h"

namespace edge::runtime {

/// Requests of one key that have passed a limit.
struct SharedUse {
  std::uint64_t limit = 0;  ///< the same on all agents
  std::uint64_t key = 0;    ///< hash of the key's values, by the seed that all agents have
  std::uint32_t requests = 0;
  friend bool operator==(const SharedUse&, const SharedUse&) = default;
};

/// What the others have let pass since the last one.
struct SharedNews {
  std::uint64_t seed = 0;
  std::uint32_t members = 1;  ///< agents that share, this one included
  std::vector<SharedUse> uses{};
};

struct SharedLimitFacts {
  std::uint32_t share = 1;   ///< by how many each limit is divided now
  std::uint64_t untold = 0;  ///< requests that the others are not told of, for lack of room
};

/// Threads: any.
class SharedLimits {
 public:
  /// Keys that may wait to be told. Requests of further ones are counted by this process alone.
  static constexpr std::size_t kMostPending = 65'536;
  /// Without news for so long each agent has its share of a limit.
  static constexpr auto kContact = std::chrono::seconds(3);
  static constexpr std::uint32_t kMostMembers = 10'000;

  SharedLimits();
  SharedLimits(const SharedLimits&) = delete;
  SharedLimits& operator=(const SharedLimits&) = delete;

  /// Sets the limits of the program that is at work, by their numbers.
  void set(std::vector<std::pair<std::uint64_t, Rate>> limits);
  bool any() const { return any_.load(std::memory_order_relaxed); }

  /// Returns the seed for hashing keys: secret, and after the first news the same on all agents.
  std::uint64_t seed() const { return seed_.load(std::memory_order_relaxed); }
  /// Returns by how many a limit is divided: 1 while news come, else the agents that shared when they last came.
  std::uint32_t share(net::Time now) const;
  /// Counts a request that has passed.
  void note(std::uint64_t limit, std::uint64_t key, net::Time now);

  /// Takes what is to be told, at most `most` keys.
  std::vector<SharedUse> take(std::size_t most);
  /// Charges the buckets with what the others have let pass. No bucket owes more than `members` agents can let pass in
  /// kContact, so that whoever tells too much keeps nobody out for long after. Limits that are not known, and counts of
  /// none, are passed over.
  void apply(const SharedNews& news, net::Time now, RateLimitTable& table);

  /// Returns how many requests were not told for lack of room.
  std::uint64_t untold() const { return untold_.load(std::memory_order_relaxed); }

 private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, SharedUse> uses;  ///< by key, which the limit is part of
  };

  std::atomic<bool> any_ = false;
  std::atomic<std::uint64_t> seed_;
  std::atomic<std::uint32_t> members_ = 1;
  std::atomic<net::Time::rep> heard_ = 0;
  std::atomic<std::uint64_t> untold_ = 0;
  std::array<Shard, 16> shards_;
  std::size_t next_shard_ = 0;  ///< guarded by taking_
  std::mutex taking_;
  std::mutex limits_mutex_;
  std::unordered_map<std::uint64_t, Rate> limits_;  ///< guarded by limits_mutex_
};

}  // namespace edge::runtime
