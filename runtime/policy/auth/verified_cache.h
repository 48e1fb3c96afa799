// Caches verified (or rejected) credentials by keyed digest: a bounded map with least-recently-used eviction. Shared by
// all threads.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/policy/auth/keyed_digest.h"

namespace edge::runtime::auth {

/// Values contain their expiry: the caller checks it.
template <typename Value>
class VerifiedCache {
 public:
  /// `capacity` of all shards together.
  explicit VerifiedCache(std::size_t capacity) : of_shard_((capacity + kShards - 1) / kShards) {}
  VerifiedCache(const VerifiedCache&) = delete;
  VerifiedCache& operator=(const VerifiedCache&) = delete;

  /// Returns a copy: values should be cheap to copy. Locks a shard for the lookup.
  std::optional<Value> find(const Digest& digest) {
    Shard& shard = shard_of(digest);
    const std::scoped_lock lock(shard.mutex);
    const auto found = shard.places.find(digest);
    if (found == shard.places.end()) return std::nullopt;
    shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
    return found->second->second;
  }

  void put(const Digest& digest, Value value) {
    Shard& shard = shard_of(digest);
    const std::scoped_lock lock(shard.mutex);
    const auto found = shard.places.find(digest);
    if (found != shard.places.end()) {
      found->second->second = std::move(value);
      shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
      return;
    }
    if (shard.entries.size() == of_shard_) {
      shard.places.erase(shard.entries.back().first);
      shard.entries.pop_back();
    }
    shard.entries.emplace_front(digest, std::move(value));
    shard.places.emplace(digest, shard.entries.begin());
  }

  void remove(const Digest& digest) {
    Shard& shard = shard_of(digest);
    const std::scoped_lock lock(shard.mutex);
    const auto found = shard.places.find(digest);
    if (found == shard.places.end()) return;
    shard.entries.erase(found->second);
    shard.places.erase(found);
  }

  std::size_t size() {
    std::size_t sum = 0;
    for (Shard& shard : shards_) {
      const std::scoped_lock lock(shard.mutex);
      sum += shard.entries.size();
    }
    return sum;
  }

 private:
  static constexpr std::size_t kShards = 16;
  using Entries = std::list<std::pair<Digest, Value>>;
  struct alignas(64) Shard {
    std::mutex mutex;
    Entries entries;  ///< the most recently used first
    std::unordered_map<Digest, typename Entries::iterator, DigestHash> places;
  };

  /// Chosen by other bytes than the map's own hash.
  Shard& shard_of(const Digest& digest) { return shards_[digest.back() % kShards]; }

  std::size_t of_shard_;
  std::array<Shard, kShards> shards_;
};

}  // namespace edge::runtime::auth
