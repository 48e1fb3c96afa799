// The entries of a map side by side. Walking the nodes of a tree waits for memory at each; these are asked for
// together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace edge::compiler {

/// Follows a std::map, which must tell it what comes and goes. Not thread-safe.
template <typename Map>
class FlatOrder {
 public:
  using Entry = typename Map::value_type;

  /// After the entry came.
  void came(const Entry& entry) {
    if (!follows()) return;
    entries_.insert(position(entry.first), &entry);
  }
  /// Before the entry goes.
  void goes(const Entry& entry) {
    if (!follows()) return;
    entries_.erase(position(entry.first));
  }
  /// The map became another.
  void forget() {
    stale_ = true;
    entries_.clear();
  }

  /// In the map's order. Valid until it is told of another change.
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
  /// Each change moves what stands behind it, so many are made up for at once.
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
