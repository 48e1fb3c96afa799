// A perfect hash over the paths of one host: each has a position of its own, found from its hash and one byte.
//
// A path's hash selects a bucket, and the bucket's byte (its displacement) maps the hash to a position. The compiler
// tries bytes until no two paths collide, so that a lookup reads only the one candidate record, instead of a slot and
// then its entry. There is a byte for every two or three paths: those of a small host fit into the cache line that a
// lookup reads of the host anyway.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"

namespace edge::program {

/// Returns the bucket of a hash among `mask` + 1.
inline std::uint32_t path_bucket(std::uint64_t hash, std::uint32_t mask) {
  return static_cast<std::uint32_t>(hash) & mask;
}

/// Returns the position of a hash among `places`, which must not be 0.
inline std::uint32_t path_position(std::uint64_t hash, std::uint8_t displacement, std::uint32_t places) {
  // With an added multiple instead, the positions of some hashes would hardly change.
  const std::uint64_t moved = (hash ^ displacement * hash_detail::kMul0) * hash_detail::kMul1 >> 32;
  return static_cast<std::uint32_t>(moved * places >> 32);
}

struct PathHashTable {
  std::vector<std::uint8_t> displacements;  ///< one per bucket; a power of two
  std::uint32_t places = 0;                 ///< slightly more than the number of hashes
  std::vector<std::uint32_t> position_of;   ///< one per hash
};

/// Assigns a position to every hash; deterministic. About 50 ns per hash, a few times that for crafted ones.
/// \returns nullopt where no displacements avoid collisions: hashes were constructed to collide.
std::optional<PathHashTable> hash_paths(std::span<const std::uint64_t> hashes);

}  // namespace edge::program
