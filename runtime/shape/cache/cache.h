// The response cache of one gateway, shared by all threads: stored responses and those being fetched. Keyed by the
// gateway's id, so that it outlives programs.
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

/// The parts of a gateway's `spec.cache` that size the store.
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

  /// Invalidates everything stored or being fetched of a target (RFC 9111 §4.4). \returns how many responses.
  std::size_t invalidate(std::string_view target);

  /// Reserves memory for a response that is not stored yet. False: other fetches use all there is, and this response
  /// should not be stored.
  bool reserve(std::size_t bytes);
  void release(std::size_t bytes) { filling_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const Sizes sizes_;
  Store store_;
  Fills fills_;
  std::atomic<std::size_t> filling_{0};
};

/// Selects what to purge: everything, the hosts of a pattern, or the responses of a route (`name`, or
/// `namespace/name`).
struct Purge {
  bool all = false;
  HostPattern host;
  std::string route;
};

/// The caches of all gateways, by weak reference: programs in force own them, and a cache that no program names is
/// destroyed after the last request that uses it.
class Caches {
 public:
  explicit Caches(std::uint64_t seed) : seed_(seed) {}

  /// Returns the cache of a gateway; a new one when there is none, or its sizes have changed.
  std::shared_ptr<Cache> of_gateway(std::uint64_t id, const Sizes& sizes);
  /// Removes the selected responses; any thread. \returns how many.
  std::size_t purge(const Purge& what);
  StoreStats stats() const;

 private:
  std::vector<std::shared_ptr<Cache>> all() const;

  std::uint64_t seed_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Cache>> caches_;
};

}  // namespace edge::runtime::cache
