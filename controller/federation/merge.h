// The merge of versions: a pure function, with the same result for any order (decision 0271).
//
// An object is the set of its versions that no other one replaces: its siblings. The first by `ranks_before` is the
// winner, which the cluster serves; the others are the losers of a conflict, which stay until a version replaces them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "controller/federation/version.h"

namespace edge::federation {

enum class ConflictPolicy : std::uint8_t { kOldestWins, kNewestWins, kHubWins };

/// The same in all clusters of a federation.
struct MergeRules {
  ConflictPolicy policy = ConflictPolicy::kOldestWins;
  std::string hub{};  ///< UID; its versions win by kHubWins
};

/// By rank: the winner first.
using Siblings = std::vector<VersionPtr>;

/// More concurrent versions of one object are not kept: those that rank last are dropped, and counted.
inline constexpr std::size_t kMostSiblings = 16;

/// A strict total order over the versions of an object.
bool ranks_before(const Version& a, const Version& b, const MergeRules& rules);

struct Merged {
  enum class Outcome : std::uint8_t { kTaken, kHeld, kReplaced, kDropped } outcome = Outcome::kTaken;
  std::vector<VersionPtr> removed{};  ///< siblings that the version replaces
  std::vector<VersionPtr> dropped{};  ///< siblings for which there was no room
};

/// Sets the rank of a version that is written over the winner of `siblings`. While losers stay it must rank before
/// them: it would otherwise lose to what the winner has won over.
void rank_over(Version& version, const Siblings& siblings, const MergeRules& rules);

/// Puts a version in.
Merged merge(Siblings& siblings, const VersionPtr& version, const MergeRules& rules);

/// Whether two versions say the same: clusters that made the same change do not disagree.
bool agree(const Version& a, const Version& b);

/// Returns the past of a version that `writer` writes over some of the siblings, and the proofs for it. `replaced` are
/// among `siblings`, or were.
struct Successor {
  Past past;
  std::map<ReplicaId, Proof> proofs;
};
Successor successor(const Siblings& siblings, const Siblings& replaced, const Dot& dot);

}  // namespace edge::federation
