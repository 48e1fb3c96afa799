// The cache of one gateway, shared by all threads: what is stored, and what is on its way in. Found by the gateway's
// id, so that it outlives programs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hostname.h"
#include "runtime/shape/cache/fills.h"
#include "runtime/shape/cache/store.h"

namespace edge::runtime::cache {

/// `spec.cache` of a gateway, as far as it shapes the store.
struct Sizes {
  std::uint64_t max_bytes = 0;
  std::uint64_t max_entry_bytes = 0;
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

class Cache {
 public:
  Cache(const Sizes& sizes, std::uint64_t seed);

  Store& store() { return store_; }
  Fills& fills() { return fills_; }
  const Sizes& sizes() const { return sizes_; }

  /// Everything that is stored of a target, or on its way in, is of the past (RFC 9111 §4.4). \returns how many.
  std::size_t invalidate(std::string_view target);

  /// Memory for what is not stored yet. False: others hold all there is, and this fill had better be given up.
  bool reserve(std::size_t bytes);
  void release(std::size_t bytes) { filling_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const Sizes sizes_;
  Store store_;
  Fills fills_;
  std::atomic<std::size_t> filling_{0};
};

/// What to purge: all, or what a host pattern covers, or what came by a route (`name`, or `namespace/name`).
struct Purge {
  bool all = false;
  HostPattern host;
  std::string route;
};

/// Of all gateways. Keeps none alive itself: the programs in force do, and a cache that no program names goes with the
/// last request that uses it.
class Caches {
 public:
  explicit Caches(std::uint64_t seed) : seed_(seed) {}

  /// The cache of a gateway; a new one when there is none, or its sizes have changed.
  std::shared_ptr<Cache> of_gateway(std::uint64_t id, const Sizes& sizes);
  /// \returns how many responses were removed. From any thread.
  std::size_t purge(const Purge& what);
  StoreStats stats() const;

 private:
  std::vector<std::shared_ptr<Cache>> all() const;

  std::uint64_t seed_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Cache>> caches_;
};

}  // namespace edge::runtime::cache
