// The digest tree of a state: a root a kind, 256 leaves below it, and what is in a leaf. Two clusters compare roots
// each `syncInterval`, and list only the leaves that differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/federation/frame.h"
#include "controller/federation/replica.h"

namespace edge::federation {

inline constexpr std::uint32_t kLeaves = 256;

std::uint32_t leaf_of(const ObjectKey& key);

/// What two clusters compare: objects that either may send the other. Both compute it alike.
struct SharedScope {
  Scope one;
  Scope other;
  bool covers(const ObjectKey& key) const { return one.covers(key) || other.covers(key); }
};

/// By kind. Deletions do not count: the one may have collected what the other has not.
using Tree = std::map<std::string, std::vector<std::uint64_t>>;
Tree digest_tree(const Replica& replica, const SharedScope& scope);
Digests roots_of(const Tree& tree);
/// Objects of a kind in some leaves, their dots ascending.
std::vector<HeldObject> list_leaves(const Replica& replica, const SharedScope& scope, const std::string& kind,
                                    const std::vector<std::uint32_t>& leaves);

}  // namespace edge::federation
