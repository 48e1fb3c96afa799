// The private parts of a replica that its encodings read and write: for state.cc and changes.cc alone.
#pragma once

#include "controller/federation/replica.h"
#include "controller/federation/wire.h"

namespace edge::federation {

struct StateAccess {
  // As State (state.h).
  static void write(const Replica& replica, v1::State& out);
  static Status read(const v1::State& in, Replica& replica);

  static void write_peer(const std::string& cluster, const Peer& peer, v1::StoredPeer& out);
  static Status read_peer(const v1::StoredPeer& in, Replica& replica);
  static void write_versions(const std::vector<HeldVersion>& siblings,
                             google::protobuf::RepeatedPtrField<v1::StoredVersion>& out);
  /// In place of those that there are.
  static Status read_versions(const ObjectKey& key, const google::protobuf::RepeatedPtrField<v1::StoredVersion>& in,
                              Replica& replica);
  static void write_head(const Replica& replica, v1::Head& out);
  static Status read_head(const v1::Head& in, Replica& replica);
  /// After the last object: which are deleted, and their order by the rules.
  static void finish(Replica& replica);
};

}  // namespace edge::federation
