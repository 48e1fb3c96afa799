// Maps the hash of a request's key to an endpoint, so that a key keeps its endpoint and adding or removing an endpoint
// moves few keys. Two algorithms: a hash ring (Karger et al., 1997) and Maglev's table (Eisenbud et al., 2016), which
// distributes more evenly and is faster to query.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace edge::runtime {

class ConsistentHash {
 public:
  enum class Kind : std::uint8_t { kRing, kMaglev };

  /// Builds the table. `ids`: a hash of each endpoint's address, the same on every machine. At most 65,536 endpoints
  /// are distinguished; takes some milliseconds for a thousand. `weights`: one per id, at least 1: its share of the
  /// keys.
  void build(Kind kind, std::span<const std::uint64_t> ids, std::span<const std::uint16_t> weights);
  /// Returns an index into the `ids` of the last build, which must not have been empty.
  std::uint32_t find(std::uint64_t key) const;

 private:
  struct Point {
    std::uint64_t at;
    std::uint32_t index;
  };
  void build_ring(std::span<const std::uint64_t> ids, std::span<const std::uint16_t> weights);
  void build_table(std::span<const std::uint64_t> ids, std::span<const std::uint16_t> weights);

  std::vector<Point> ring_;
  std::vector<std::uint32_t> table_;
};

}  // namespace edge::runtime
