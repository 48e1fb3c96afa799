// The state of a cluster's federation as records (schemas/federation.proto, Changes): what one of them says takes the
// place of what earlier ones said, so that a file that is appended to has the state (run/state_file.h). Without I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/federation/follow.h"
#include "controller/federation/replica.h"

namespace edge::federation {

/// Of an object in the API, when it was last alike with a version (Applied).
struct ApiRecord {
  std::string echo{};           ///< its content, where the API made another one of the version's
  std::string uid{};            ///< of a deleted one: the last
  std::int64_t generation = 0;  ///< metadata.generation
  friend bool operator==(const ApiRecord&, const ApiRecord&) = default;
};

struct ClusterState {
  explicit ClusterState(Replica of) : replica(std::move(of)) {}

  Replica replica;
  Applied applied{};
  std::map<ObjectKey, ApiRecord> records{};
  std::set<ObjectKey> touched{};  ///< of `applied` and `records`, since the last record
  /// By kind, the newest resourceVersion that was seen, as a number.
  std::map<std::string, std::uint64_t> api_versions{};
};

/// What was written of a state. Not thread-safe.
class ChangeRecords {
 public:
  /// Returns a record of what changed since the last call; empty: nothing did.
  std::string take(ClusterState& state);
  /// Passes records of all of it, each of a few hundred kilobytes; the next `take` goes on from there.
  Status dump(ClusterState& state, const std::function<Status(const std::string& record)>& each);

 private:
  std::map<std::string, std::uint64_t> peers_;  ///< hashes of what was written
  std::uint64_t members_ = 0;                   ///< their version
  std::uint64_t head_ = 0;                      ///< hash of lives and rules
};

/// Applies a record. kDataLoss: it is none, or another cluster's.
Status apply_record(std::string_view record, ClusterState& state);
/// After the last one.
void finish_reading(ClusterState& state);

}  // namespace edge::federation
