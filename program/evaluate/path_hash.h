// A perfect hash over the paths of one host: each has a place of its own, found from its hash and one byte.
//
// A path's hash names a bucket, and the bucket's byte (its displacement) moves the hash to a place. The compiler tries
// bytes until no two paths want one place, so that a lookup asks memory for the one record that can be the path's,
// instead of for a slot and then for what the slot names. There is a byte for every two or three paths: those of a
// small host fit the cache line that a lookup reads of the host anyway.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"

namespace edge::program {

/// The bucket of a hash, when there are `mask` + 1 of them.
inline std::uint32_t path_bucket(std::uint64_t hash, std::uint32_t mask) {
  return static_cast<std::uint32_t>(hash) & mask;
}

/// The place of a hash among `places`: any number but 0.
inline std::uint32_t path_position(std::uint64_t hash, std::uint8_t displacement, std::uint32_t places) {
  // Were a multiple added instead, the places of some hashes would hardly move.
  const std::uint64_t moved = (hash ^ displacement * hash_detail::kMul0) * hash_detail::kMul1 >> 32;
  return static_cast<std::uint32_t>(moved * places >> 32);
}

struct PathHashTable {
  std::vector<std::uint8_t> displacements;  ///< one a bucket; a power of two
  std::uint32_t places = 0;                 ///< a little more than there are hashes
  std::vector<std::uint32_t> position_of;   ///< one a hash
};

/// Gives every hash a place; equal input gives equal places. Some 50 ns a hash, a few times that where they were
/// crafted.
/// \returns nullopt where no displacements lead to places of their own: hashes were made to collide.
std::optional<PathHashTable> hash_paths(std::span<const std::uint64_t> hashes);

}  // namespace edge::program
