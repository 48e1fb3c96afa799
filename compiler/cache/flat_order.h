// The entries of a map as a contiguous array of pointers: walking a tree's nodes waits for memory at each, these can be
// prefetched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace edge::compiler {

/// Follows a std::map, whose owner reports insertions and removals. Not thread-safe.
template <typename Map>
class FlatOrder {
 public:
  using Entry = typename Map::value_type;

  /// Called after an insertion.
  void came(const Entry& entry) {
    if (!follows()) return;
    entries_.insert(position(entry.first), &entry);
  }
  /// Called before a removal.
  void goes(const Entry& entry) {
    if (!follows()) return;
    entries_.erase(position(entry.first));
  }
  /// Called when the whole map was replaced.
  void forget() {
    stale_ = true;
    entries_.clear();
  }

  /// Returns the entries in the map's order. Valid until the next reported change.
  std::span<const Entry* const> of(const Map& map) {
    if (stale_) {
      entries_.clear();
      entries_.reserve(map.size());
      for (const Entry& entry : map) entries_.push_back(&entry);
    }
    stale_ = false;
    changes_ = 0;
    return entries_;
  }

 private:
  /// Each single change moves the entries behind it, so that many are applied at once.
  static constexpr std::size_t kFew = 64;

  bool follows() {
    if (!stale_ && ++changes_ > kFew) forget();
    return !stale_;
  }
  auto position(const typename Map::key_type& key) {
    return std::ranges::lower_bound(entries_, key, typename Map::key_compare(),
                                    [](const Entry* entry) -> const auto& { return entry->first; });
  }

  std::vector<const Entry*> entries_;
  std::size_t changes_ = 0;
  bool stale_ = true;
};

}  // namespace edge::compiler
