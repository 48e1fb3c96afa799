#include "controller/federation/merge.h"

#include <algorithm>
#include <tuple>

namespace edge::federation {
namespace {

/// Versions of one dot that differ: only a cluster that counts twice, by fault or by intent, makes them. Both stay.
bool is_same(const Version& a, const Version& b) { return a.dot == b.dot && a.statement == b.statement; }

bool replaces(const Version& by, const Version& version) {
  return by.dot != version.dot && by.past.contains(version.dot);
}

/// Adds the proofs of `version`, its own among them, where they are for later counters.
void add_proofs(std::map<ReplicaId, Proof>& proofs, const Version& version) {
  const auto add = [&](const ReplicaId& replica, const Proof& proof) {
    Proof& have = proofs[replica];
    if (have.counter < proof.counter) have = proof;
  };
  for (const auto& [replica, proof] : version.proofs) add(replica, proof);
  add(version.dot.replica, proof_of(version));
}

}  // namespace

bool ranks_before(const Version& a, const Version& b, const MergeRules& rules) {
  if (rules.policy == ConflictPolicy::kHubWins) {
    const bool hub_a = a.rank_cluster == rules.hub;
    const bool hub_b = b.rank_cluster == rules.hub;
    if (hub_a != hub_b) return hub_a;
  }
  if (a.rank != b.rank) return rules.policy == ConflictPolicy::kNewestWins ? a.rank > b.rank : a.rank < b.rank;
  if (a.time != b.time) return rules.policy == ConflictPolicy::kNewestWins ? a.time > b.time : a.time < b.time;
  return std::tie(a.dot, a.statement) < std::tie(b.dot, b.statement);
}

void rank_over(Version& version, const Siblings& siblings, const MergeRules& rules) {
  version.rank = version.time;
  version.rank_cluster = version.dot.replica.cluster;
  if (siblings.size() < 2) return;
  const Version& winner = *siblings.front();
  version.rank_cluster = winner.rank_cluster;
  // The newest is the newest anyhow.
  if (rules.policy != ConflictPolicy::kNewestWins) version.rank = winner.rank - 1;
}

bool agree(const Version& a, const Version& b) { return a.deleted == b.deleted && a.digest == b.digest; }

Merged merge(Siblings& siblings, const VersionPtr& version, const MergeRules& rules) {
  Merged merged;
  for (const VersionPtr& have : siblings) {
    if (is_same(*have, *version)) {
      merged.outcome = Merged::Outcome::kHeld;
      return merged;
    }
    if (replaces(*have, *version)) {
      merged.outcome = Merged::Outcome::kReplaced;
      return merged;
    }
  }
  std::erase_if(siblings, [&](const VersionPtr& have) {
    if (!replaces(*version, *have)) return false;
    merged.removed.push_back(have);
    return true;
  });
  const auto place = std::ranges::upper_bound(
      siblings, version, [&](const VersionPtr& a, const VersionPtr& b) { return ranks_before(*a, *b, rules); });
  siblings.insert(place, version);
  if (siblings.size() > kMostSiblings) {
    const VersionPtr last = siblings.back();
    siblings.pop_back();
    if (last == version) {
      merged.outcome = Merged::Outcome::kDropped;
    } else {
      merged.dropped.push_back(last);
    }
  }
  return merged;
}

Successor successor(const Siblings& siblings, const Siblings& replaced, const Dot& dot) {
  Successor next;
  for (const VersionPtr& version : replaced) {
    next.past.add(version->past);
    add_proofs(next.proofs, *version);
  }
  // Everything of its own up to now but what only a sibling that stays has replaced, or is.
  Ranges kept;
  for (const VersionPtr& version : siblings) {
    for (const Range& range : without(version->past.of(dot.replica), next.past.of(dot.replica))) add(kept, range);
  }
  for (const Range& range : without({{1, dot.counter}}, kept)) next.past.add(dot.replica, range);
  next.past.trim(dot.replica);

  // Those of its cluster's earlier lives stay: who writes over this version needs them.
  std::erase_if(next.proofs, [&](const auto& entry) {
    return entry.first == dot.replica || !next.past.entries().contains(entry.first);
  });
  return next;
}

}  // namespace edge::federation
