// Vector clocks of federated objects, and hybrid logical time (decision 0271).
//
// A dot names one version: the replica that wrote it and that replica's counter. A past is the set of dots that a
// version replaces, itself among them: a vector clock whose entries are ranges, so that a version written over the
// winner of a conflict does not claim to have replaced the loser.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace edge::federation {

/// One life of a cluster's state. Never used again after the life has ended.
struct ReplicaId {
  std::string cluster;            ///< UID
  std::uint64_t incarnation = 0;  ///< grows with the clock of the starts
  friend auto operator<=>(const ReplicaId&, const ReplicaId&) = default;
};

struct Dot {
  ReplicaId replica;
  std::uint64_t counter = 0;  ///< from 1
  friend auto operator<=>(const Dot&, const Dot&) = default;
};

/// Both ends belong to it.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Ascending, disjoint, and never adjacent.
using Ranges = std::vector<Range>;

bool contains(const Ranges& ranges, std::uint64_t counter);
void add(Ranges& ranges, Range range);
/// Returns what of `ranges` is not in `others`.
Ranges without(const Ranges& ranges, const Ranges& others);

class Past {
 public:
  /// A version that would have more drops the oldest: it then replaces less, so that a conflict may be listed that is
  /// none, and nothing is lost.
  static constexpr std::size_t kMostReplicas = 32;
  static constexpr std::size_t kMostRanges = 16;

  bool contains(const Dot& dot) const;
  void add(const Dot& dot);
  void add(const Past& other);
  void add(const ReplicaId& replica, Range range);
  const Ranges& of(const ReplicaId& replica) const;
  /// Drops what exceeds the bounds, but `own`.
  void trim(const ReplicaId& own);
  bool within_bounds() const;
  const std::map<ReplicaId, Ranges>& entries() const { return entries_; }

  friend bool operator==(const Past&, const Past&) = default;

 private:
  std::map<ReplicaId, Ranges> entries_;
};

/// Hybrid logical time: milliseconds since 1970 times 65536, and a count. Orders versions; no version becomes valid or
/// invalid by it.
using HybridTime = std::uint64_t;

/// Peers' times above are refused: one of them could otherwise use up the numbers. The year 4199.
inline constexpr HybridTime kLatestTime = HybridTime{1} << 62;

class HybridClock {
 public:
  HybridClock() = default;
  explicit HybridClock(HybridTime last) : last_(last) {}
  /// Returns a time after all earlier ones, and after those observed.
  HybridTime tick(std::int64_t milliseconds);
  void observe(HybridTime time);
  HybridTime last() const { return last_; }

 private:
  HybridTime last_ = 0;
};

/// Returns the milliseconds since 1970 in it.
std::int64_t milliseconds_of(HybridTime time);

}  // namespace edge::federation
