// What an EdgeRemoteCluster (spec.federation), or the flags of a cluster with a hub, say of federation with one peer.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/federation/merge.h"
#include "controller/federation/replica.h"

namespace edge::federation {

inline constexpr std::chrono::milliseconds kSyncInterval = std::chrono::minutes(5);

struct PeerSpec {
  std::string object{};   ///< `namespace/name` of the EdgeRemoteCluster; empty: it is of flags
  std::string name{};     ///< the peer's
  std::string hub{};      ///< not empty: the peer is the hub at this address, `HOST:PORT`
  std::string created{};  ///< RFC 3339: of two objects of one name the older one counts
  bool enabled = false;
  bool suspended = false;
  Scope reads{.nothing = true};   ///< what the peer is shown
  Scope shares{.nothing = true};  ///< where it may write objects that it made; not of a hub
  Scope writes{.nothing = true};  ///< where it may write any
  ConflictPolicy policy = ConflictPolicy::kOldestWins;
  std::chrono::milliseconds sync_interval = kSyncInterval;
  Quota quota{};

  bool shares_nothing() const { return reads.nothing && shares.nothing && writes.nothing; }
  friend bool operator==(const PeerSpec& a, const PeerSpec& b);
};

/// `document`: the object as JSON; its name is for the caller to set. `is_hub`: it says where the hub is. What is no
/// valid value reads as absent: the compiler reports it.
PeerSpec read_peer_spec(std::string_view document, bool is_hub);
/// `kinds` empty: nothing is exchanged with the hub.
PeerSpec hub_spec(std::string hub, std::vector<std::string> kinds, std::vector<std::string> namespaces);

std::string_view to_string(ConflictPolicy policy);

}  // namespace edge::federation
