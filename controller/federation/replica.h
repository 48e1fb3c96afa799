// A cluster's state of the federation: objects with their versions, and what each peer is known to have. Without I/O;
// the caller persists it (state.h) before it sends what the state says was received or written. Decision 0271.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "controller/federation/clock.h"
#include "controller/federation/frame.h"
#include "controller/federation/merge.h"
#include "controller/federation/version.h"

namespace edge::federation {

/// Of one author, over all of its objects here.
struct Quota {
  std::size_t objects = 20'000;
  std::size_t bytes = std::size_t{128} << 20;
};

/// What a cluster was told of a peer (EdgeRemoteCluster.spec.federation).
struct PeerSettings {
  std::string name{};
  bool hub = false;  ///< it vouches for other clusters' grants: what it passes on was checked there
  bool suspended = false;
  Scope reads{};   ///< what it is shown
  Scope shares{};  ///< where it may write objects of its own
  Scope writes{};  ///< where it may write any object
  Quota quota{};
  friend bool operator==(const PeerSettings& a, const PeerSettings& b) {
    return a.name == b.name && a.hub == b.hub && a.suspended == b.suspended && a.reads == b.reads &&
           a.shares == b.shares && a.writes == b.writes;
  }
};

struct Peer {
  PeerSettings settings{};
  std::vector<Life> memory{};      ///< of its state: how far each of its lives was processed
  std::uint64_t acknowledged = 0;  ///< it has everything up to this sequence number of ours
  std::set<NamedDot> refused{};    ///< of what it sent; it is told again when it connects, as it may not have heard
  bool refused_more = false;       ///< than are remembered
  bool stale = false;              ///< it may hold what was deleted since: it compares with the whole list first
  bool removed = false;            ///< it is no peer; what it had is remembered in case that it comes back
  bool resend = false;             ///< it is shown more than before: the next session sends everything
};

/// A sibling, and who else has it.
struct HeldVersion {
  VersionPtr version;
  std::uint64_t sequence = 0;        ///< when it came, among all of this state
  std::set<std::string> known_by{};  ///< peers that sent it
  std::set<std::string> refused_by{};
  std::set<std::string> settled_by{};  ///< of a deletion: peers all of whose peers have seen it
  /// Peers that had a version which it replaced, directly or not; of at most kMostBefore.
  std::set<std::string> had_before{};
  static constexpr std::size_t kMostBefore = 4;
};

struct Received {
  Refusal refusal = Refusal::kNone;
  bool changed = false;  ///< the object's siblings
};

/// A loser of a conflict that nobody has resolved.
struct Conflict {
  VersionPtr winner;
  VersionPtr loser;
};

struct ReplicaCounts {
  std::size_t objects = 0;
  std::size_t tombstones = 0;
  std::size_t conflicts = 0;
  std::uint64_t dropped = 0;  ///< versions beyond kMostSiblings, since the start
};

/// Not thread-safe. Times are wall time in milliseconds since 1970.
class Replica {
 public:
  static constexpr std::size_t kMostLives = 64;
  static constexpr std::size_t kMostRefused = 512;

  Replica(std::string cluster, MergeRules rules, Signatures signatures);

  /// Begins a new life: at each start, before anything is written. `random` tells lives apart that begin at once.
  void begin_life(std::int64_t now, std::uint64_t random);
  const ReplicaId& id() const { return id_; }
  const std::vector<Life>& lives() const { return lives_; }
  std::uint64_t sequence() const { return lives_.back().last; }

  // ---- Of this cluster ----

  /// Writes over the winner; losers stay listed. \returns the new version.
  Result<VersionPtr> write(const ObjectKey& key, std::string content, std::int64_t now);
  /// kNotFound: there is none.
  Result<VersionPtr> remove(const ObjectKey& key, std::int64_t now);
  /// Ends the conflict of an object: the chosen sibling is written again, over all others. kNotFound: it is no sibling.
  Result<VersionPtr> resolve(const ObjectKey& key, const Dot& chosen, std::int64_t now);
  /// A change to an object as it was by `base` (null: it was none), whatever has come since: what has is concurrent,
  /// and stays. nullopt: it was deleted.
  Result<VersionPtr> change(const ObjectKey& key, const VersionPtr& base, const std::optional<std::string>& content,
                            std::int64_t now);
  /// Removes versions of which a peer's whole list says that they are gone: by a new version, so that others learn it.
  Status retire(const ObjectKey& key, const std::vector<Dot>& gone, std::int64_t now);
  /// An object that was changed here was deleted elsewhere, without knowing of the change, and the deletion is
  /// forgotten there: it is written again as the loser of a conflict, so that the change stands and both are listed.
  Status remember_deletion(const ObjectKey& key, std::int64_t now);

  // ---- Reading ----

  /// Null: there is no such object, or it is deleted.
  VersionPtr winner(const ObjectKey& key) const;
  /// Null: none.
  const std::vector<HeldVersion>* siblings(const ObjectKey& key) const;
  const std::map<ObjectKey, std::vector<HeldVersion>>& objects() const { return objects_; }
  /// Losers that say something else than the winner, by object, at most `limit`.
  std::vector<Conflict> conflicts(std::size_t limit) const;
  ReplicaCounts counts() const;
  /// Objects of which something else is to be stored than at the last call.
  std::set<ObjectKey> take_touched() { return std::exchange(touched_, {}); }
  const std::set<ObjectKey>& touched() const { return touched_; }

  // ---- Of peers ----

  /// Adds a peer or changes its settings. After a change of what it is shown it is sent the whole list again.
  void set_peer(const std::string& cluster, PeerSettings settings);
  /// Keeps what is remembered of it: it compares with the whole list if it is ever added again.
  void remove_peer(const std::string& cluster);
  /// Null: it is none.
  Peer* peer(const std::string& cluster);
  const std::map<std::string, Peer>& peers() const { return peers_; }
  /// Clusters whose versions there may be. At most 512.
  void add_member(Member member);
  const std::map<std::string, Member>& members() const { return members_; }
  /// Counts changes of the members.
  std::uint64_t members_version() const { return members_version_; }
  void set_rules(MergeRules rules);
  const MergeRules& rules() const { return rules_; }

  /// A version that `peer` sent.
  Received receive(const VersionPtr& version, const std::string& peer);
  void refused(const ObjectKey& key, const Dot& dot, const std::string& peer);
  /// What a peer did not take is sent again: grants and quotas may be others.
  void retry_refused(const std::string& peer);
  /// Deletions that a peer has seen, at most `limit`, for the question whether all of its peers have.
  std::vector<NamedDot> unsettled(const std::string& peer, std::size_t limit) const;
  /// The answer to that question: they have, or it has none any more.
  bool is_settled(const NamedDot& deletion) const;
  void settle(const NamedDot& deletion, const std::string& peer);
  /// Whether a peer has, or has had, a version of ours.
  bool is_known_by(const HeldVersion& held, const std::string& cluster, const Peer& peer) const;
  /// Forgets who sent what of one peer: its state lost some of it.
  void forget_knowledge(const std::string& cluster);
  /// Removes deletions that every peer that is not suspended has seen, and knows that its own peers have: earlier, one
  /// of them could send it again. A suspended one that has not is stale from then on.
  /// \returns how many.
  std::size_t collect();

  /// Versions with a sequence number above `after` that the peer may read and has not, in order, up to `bytes`.
  struct Batch {
    std::vector<VersionPtr> versions;
    std::uint64_t through = 0;  ///< nothing is left up to here
  };
  Batch batch(const std::string& cluster, const Peer& peer, std::uint64_t after, std::size_t bytes) const;

 private:
  friend struct StateAccess;

  /// `ranked`: the siblings whose winner it takes the place of; `like`: whether it is a deletion, the origin, and
  /// a rank other than its own, if any.
  Result<VersionPtr> write_over(const ObjectKey& key, const Siblings& replaced, const Siblings& ranked,
                                const Version& like, std::string content, std::int64_t now);
  Refusal check(const Version& version, const std::string& peer) const;
  /// Whether there is room for it, once it has replaced what it replaces.
  bool is_within(const Version& version, const Quota& quota) const;
  bool is_granted(const Version& version, const PeerSettings& settings) const;
  Merged put(const VersionPtr& version, const std::string& peer);
  void take_out(const HeldVersion& held);
  std::set<std::string> who_had(const std::vector<HeldVersion>& before, const Siblings& after) const;
  /// Whether a deletion must wait for a peer: `and_settled`: and for the peers of that.
  bool waits_for(const HeldVersion& held, const std::string& cluster, const Peer& peer, bool and_settled) const;
  Siblings versions_of(const ObjectKey& key) const;
  std::uint64_t next_sequence() { return ++lives_.back().last; }
  void count(const Version& version, bool added);

  struct Usage {
    std::size_t versions = 0;
    std::size_t bytes = 0;
  };

  ReplicaId id_;
  MergeRules rules_;
  Signatures signatures_;
  HybridClock clock_;
  std::uint64_t counter_ = 0;  ///< of this life
  std::vector<Life> lives_;
  std::map<ObjectKey, std::vector<HeldVersion>> objects_;
  std::map<std::uint64_t, ObjectKey> by_sequence_;
  std::set<ObjectKey> deleted_;  ///< all siblings are deletions
  std::set<ObjectKey> touched_;
  std::map<std::string, Usage> usage_;  ///< by author
  std::map<std::string, Peer> peers_;
  std::map<std::string, Member> members_;
  std::uint64_t members_version_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace edge::federation
