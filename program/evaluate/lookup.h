// Hashing and probing of a program's tables: shared by writer, interpreter and runtime.
//
// Name hash: labels are folded from the rightmost, so that one pass over a host computes the keys of all its wildcards.
// Path hash: segments are folded from the first, so that one pass over a path computes the keys of all its prefixes.
// `/a/b` folds "a", "b"; `/a/b/` folds "a", "b", ""; the path `/` folds "".
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace edge::program {

inline constexpr std::uint64_t kNameSeed = 0x686f73746e616d65;
inline constexpr std::uint64_t kPathSeed = 0x7061746873656564;

/// Continues a name's hash with its next label to the left.
inline std::uint64_t name_hash_step(std::uint64_t hash, std::string_view label) { return hash_bytes(hash, label); }
/// Continues a path's hash with its next segment (the bytes between two slashes).
inline std::uint64_t path_hash_step(std::uint64_t hash, std::string_view segment) { return hash_bytes(hash, segment); }

std::uint64_t name_hash(std::string_view name);
/// `path` starts with `/`.
std::uint64_t path_hash(std::string_view path);

/// A slot's tag is the hash's top byte, its home position the low bits.
inline std::uint32_t slot_value(std::uint64_t hash, std::uint32_t entry) {
  return static_cast<std::uint32_t>(hash >> 56) << 24 | entry;
}
inline bool slot_may_match(std::uint32_t slot, std::uint64_t hash) {
  return slot >> 24 == static_cast<std::uint32_t>(hash >> 56);
}
inline std::uint32_t slot_entry(std::uint32_t slot) { return slot & 0x00ffffff; }
inline constexpr std::uint32_t kFreeSlot = 0xffffffff;
inline constexpr std::uint32_t kMaxTableEntry = 0x00fffffe;

}  // namespace edge::program
