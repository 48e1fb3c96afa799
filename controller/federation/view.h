// What people are shown of federation, as plain data: commands, pages and metrics read it. `View` has the functions by
// which it is asked; who runs the federation provides them. Decision 0321.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/federation/version.h"

namespace edge::federation {

// Times are milliseconds since 1970, 0: never. A cluster's `name` is that of its EdgeRemoteCluster or, of the own
// cluster, empty; where none is known the UID stands for it.

/// Of a list, at most this many items an answer; fewer where they are large.
inline constexpr std::size_t kMostViewed = 500;
/// Of contents in one answer, bytes; an item of more comes alone.
inline constexpr std::size_t kMostViewedBytes = std::size_t{1} << 20;

struct KindView {
  std::string kind;
  std::size_t objects = 0;
  std::size_t tombstones = 0;  ///< deletions that are remembered
  std::size_t conflicts = 0;   ///< objects with losers
};

struct StatusView {
  std::string cluster;  ///< UID
  std::uint64_t incarnation = 0;
  std::string policy;                     ///< `OldestWins`, `NewestWins`, `HubWins`
  std::string hub{};                      ///< UID; empty: this cluster has none, or is it
  std::vector<std::string> kinds{};       ///< that are federated; empty: all but Secret
  std::vector<std::string> namespaces{};  ///< likewise; empty: all
  std::vector<KindView> by_kind{};        ///< ascending
  std::size_t objects = 0;
  std::size_t tombstones = 0;
  std::size_t conflicts = 0;
  std::uint64_t dropped = 0;  ///< versions beyond the bound of an object, in this run
  std::size_t peers = 0;
  std::size_t connected = 0;
  std::uint64_t sequence = 0;     ///< of the last change
  std::uint64_t state_bytes = 0;  ///< on disk
  std::int64_t state_written = 0;
  std::size_t unapplied = 0;          ///< winners that the API does not have yet
  std::vector<std::string> faults{};  ///< what keeps it from working, a sentence each; at most 16
};

/// Versions that were not taken, by reason.
struct RefusedView {
  std::string reason;  ///< text_of(Refusal)
  std::uint64_t count = 0;
};

struct PeerView {
  std::string name;
  std::string cluster{};  ///< UID; empty: it has never connected
  bool is_hub = false;
  bool connected = false;
  bool suspended = false;
  bool stale = false;              ///< it may have what was deleted: it compares with the whole list first
  bool comparing = false;          ///< this cluster is stale for it, and its list has not ended
  bool synchronized = false;       ///< it has everything that is here
  std::int64_t since = 0;          ///< when it connected, or was connected last
  std::uint64_t lag_versions = 0;  ///< that it has not acknowledged
  std::int64_t lag_ms = 0;         ///< for how long it has lacked the oldest of them; goes on while it is away
  std::int64_t last_comparison = 0;
  std::uint64_t comparisons = 0;  ///< in this run, as what follows
  std::uint64_t differences = 0;  ///< leaves that differed
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_versions = 0;
  std::uint64_t received_versions = 0;
  std::vector<RefusedView> refused{};          ///< of the peer's, here
  std::vector<RefusedView> refused_by_peer{};  ///< of ours, there
  std::size_t objects = 0;                     ///< here, of which it wrote a version
  std::size_t objects_limit = 0;               ///< its quota
  std::uint64_t bytes = 0;
  std::uint64_t bytes_limit = 0;
  std::string fault{};  ///< why it is not connected or was disconnected, a sentence; empty: nothing is wrong
};

struct VersionView {
  std::string author;  ///< name
  Dot dot;
  std::int64_t at = 0;   ///< of its hybrid time
  std::string origin{};  ///< name of the cluster that made the object
  bool deleted = false;
  std::string digest{};   ///< of the content, SHA-256 in hex
  std::size_t bytes = 0;  ///< of the content
  std::string content{};  ///< JSON, where it was asked for; of a Secret without its data
};

struct ConflictView {
  ObjectKey key;
  VersionView winner;
  std::vector<VersionView> losers;  ///< by rank
};

struct ConflictsQuestion {
  std::optional<ObjectKey> key{};  ///< this object alone
  bool contents = false;
  std::size_t limit = kMostViewed;
  std::string after{};  ///< `next` of the answer before
};

struct ConflictsView {
  std::vector<ConflictView> items;  ///< ascending by key
  std::string next{};               ///< empty: these were the last
};

/// One entry of an object's vector clock.
struct ClockEntryView {
  std::string name;
  ReplicaId replica;
  Ranges counters;  ///< versions that are known to have been written, and are replaced or there
};

/// What a peer has of an object's versions.
struct PeerKnowledgeView {
  std::string name;
  std::string cluster;
  bool connected = false;
  bool shown = true;           ///< false: it may not read the object, and is not sent it
  std::vector<Dot> known{};    ///< of the versions that are there: it has acknowledged or sent them
  std::vector<Dot> unknown{};  ///< likewise: it has not
  std::vector<Dot> refused{};  ///< likewise: it does not take them
};

struct ClockView {
  ObjectKey key;
  std::vector<VersionView> versions;  ///< the winner first; all deleted: the object is, and is remembered
  std::vector<ClockEntryView> entries;
  std::vector<PeerKnowledgeView> peers;
};

/// What synchronizing would change, as far as this cluster knows: what a peer has written, and not sent, is not in it.
struct PreviewQuestion {
  std::string peer{};  ///< name or UID; empty: all
  std::size_t limit = kMostViewed;
  std::string after{};
};

struct PreviewItem {
  enum class Change : std::uint8_t { kCreated, kChanged, kDeleted };
  std::string at;  ///< name of the peer that is sent it; empty: the API of this cluster, which does not have it yet
  ObjectKey key;
  Change change = Change::kChanged;
  std::string before{};  ///< JSON as `at` has it, as far as is known; empty: not known, or there is none
  std::string after{};   ///< likewise what it will have
};

struct PreviewView {
  std::vector<PreviewItem> items;  ///< ascending by `at`, then key
  std::string next{};
};

/// A comparison that was asked for: it is over when the peer's `comparisons` has reached the number, and what differed
/// has come when `lag_versions` is 0.
struct SyncStarted {
  std::string name;
  std::string cluster;
  bool connected = false;  ///< false: nothing was started, it is compared when it comes
  std::uint64_t comparison = 0;
};

/// Thread-safe, and answered within a second or so, whatever peers do. Where this controller does not lead, all say
/// kFailedPrecondition, with a text that names who does; a function that is null: there is no federation.
struct View {
  std::function<Result<StatusView>()> status{};
  /// Ascending by name; at most 1,024.
  std::function<Result<std::vector<PeerView>>()> peers{};
  /// kInvalidArgument: `after` is none; kNotFound: the named object has no conflict.
  std::function<Result<ConflictsView>(const ConflictsQuestion&)> conflicts{};
  /// kNotFound: no version of it is there.
  std::function<Result<ClockView>(const ObjectKey&)> clock{};
  std::function<Result<PreviewView>(const PreviewQuestion&)> preview{};
  /// Compares with a peer (name or UID; empty: all) now. kNotFound: there is none of the name.
  std::function<Result<std::vector<SyncStarted>>(const std::string& peer)> sync{};
  /// Ends a conflict: the chosen version is written again, over all. kNotFound: it is not among them any more. `by`:
  /// who asked, for the log. \returns once it is persisted.
  std::function<Status(const ObjectKey&, const Dot& chosen, const std::string& by)> resolve{};
};

}  // namespace edge::federation
