// Stored responses within a memory limit, found by their full key. Eviction is S3-FIFO (Yang et al., SOSP 2023): new
// entries enter a small queue and move to the main queue only when requested again, so that a scan of keys that are
// requested once evicts nothing else. A hit writes one small counter, and moves nothing.
//
// Threads: any. One lock per shard, taken for a lookup or an insertion; evicted entries are destroyed outside of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/shape/cache/entry.h"

namespace edge::runtime::cache {

struct StoreStats {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t evictions = 0;
};

class Store {
 public:
  /// Stored variants of one target; a further one evicts the oldest. It also bounds the comparisons of a lookup.
  static constexpr std::size_t kMaxVariants = 16;

  /// `seed` prevents clients from choosing keys that collide in one chain.
  Store(std::size_t max_bytes, std::size_t max_entry_bytes, std::uint64_t seed);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  struct Found {
    std::shared_ptr<const Entry> entry;
    /// An entry of the same key for other values of the fields in Vary.
    std::shared_ptr<const Entry> sibling;
  };
  /// Finds the entry that `request` selects; of several the one with the latest Date (RFC 9111 §4.1).
  Found find(const Key& key, const net::http1::HeadFields& request);
  /// Inserts, replacing an entry of the same key and selection. False when the entry is too large for the store.
  bool insert(std::shared_ptr<const Entry> entry);
  /// Replaces `entry` by `renewed`, if it is still stored.
  void replace(const Entry& entry, std::shared_ptr<const Entry> renewed);
  /// Removes this one entry, if it is still stored.
  void erase(const Entry& entry);
  /// Removes all ways and variants of a target.
  std::size_t erase_target(std::string_view target);
  /// Removes the entries for which `chosen` is true; visits every entry.
  std::size_t erase_if(const std::function<bool(const Entry&)>& chosen);

  StoreStats stats() const;

 private:
  class Shard;
  Shard& shard_of(std::uint64_t hash) const;
  std::uint64_t hash_of(std::string_view target) const;

  std::uint64_t seed_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace edge::runtime::cache
