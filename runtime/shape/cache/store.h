// Stored responses within a bound of memory, found by their whole key. Eviction is S3-FIFO (Yang et al., SOSP 2023):
// what comes new waits in a small queue and reaches the main one only when it is asked for again, so that a scan of
// things that nobody asks for twice drives nothing out. A hit writes one small number, and moves nothing.
//
// Threads: any. One lock a shard, held for a lookup or an insertion; destruction of what was driven out is outside of
// it.
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
  /// Variants of one target that are kept; the oldest goes for a further one. It also bounds what a lookup compares.
  static constexpr std::size_t kMaxVariants = 16;

  /// `seed` keeps strangers from choosing keys that meet in one chain.
  Store(std::size_t max_bytes, std::size_t max_entry_bytes, std::uint64_t seed);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  struct Found {
    std::shared_ptr<const Entry> entry;
    /// Of the same key, for other values of what Vary names.
    std::shared_ptr<const Entry> sibling;
  };
  /// The entry that `request` selects; of several the one with the latest Date (RFC 9111 §4.1).
  Found find(const Key& key, const net::http1::HeadFields& request);
  /// Replaces what has the same key and selection. False when it is too large for the store.
  bool insert(std::shared_ptr<const Entry> entry);
  /// Puts `renewed` in the place of `entry`, if that is still there.
  void replace(const Entry& entry, std::shared_ptr<const Entry> renewed);
  /// Removes this one entry, if it is still there.
  void erase(const Entry& entry);
  /// Removes all ways and variants of a target.
  std::size_t erase_target(std::string_view target);
  /// Removes what `chosen` says; looks at every entry.
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
