// Runs the federation of a cluster: its state in a file, its API, and a session with each peer. Decision 0311.
//
//   the cluster's API <-- ApiFollower --> Replica <-- Session --> tunnel to a peer (controller/remote)
//                                            |
//                                        StateFile (synced before anything is acknowledged or sent)
//
// All of it on one thread with a loop of its own, which is there from the first peer on that is enabled. Only the
// controller that leads runs it: another one neither reads nor writes the state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "controller/federation/run/spec.h"
#include "controller/federation/view.h"
#include "controller/kube/config.h"
#include "controller/remote/tunnel.h"
#include "program/sign.h"

namespace edge::federation {

struct FederationOptions {
  std::string data_dir;  ///< the state is in `federation` of it
  std::string cluster_uid;
  program::SigningKey key;  ///< of the cluster: it signs what is written here
  kube::Config config;
  controller::remote::Tunnels* tunnels = nullptr;  ///< outlives the federation
  /// Whether this controller speaks for its cluster. Any thread.
  std::function<bool()> leads;
  /// Called after `statuses` are others, on the federation's thread: gather, do not work.
  std::function<void()> changed{};
  Logger log{};
  std::function<std::int64_t()> clock{};  ///< milliseconds since 1970; null: the system's
};

/// Of one EdgeRemoteCluster, for its status: changes of counts alone are told every ten seconds.
struct PeerStatus {
  bool enabled = false;
  bool synced = false;  ///< both have what the other has, as far as it is shown
  std::string reason;   ///< of the condition `Federated`
  std::string message;
  std::uint64_t lag = 0;      ///< versions that the peer has not acknowledged
  std::size_t objects = 0;    ///< that are federated, of all peers
  std::size_t conflicts = 0;  ///< likewise
  std::uint64_t refused = 0;  ///< of the peer's versions, here and in this run
  std::uint64_t refused_by_peer = 0;
  friend bool operator==(const PeerStatus&, const PeerStatus&) = default;
};

/// Thread-safe.
class Federation {
 public:
  explicit Federation(FederationOptions options);
  /// Ends the sessions, and writes what is not written yet.
  ~Federation();
  Federation(const Federation&) = delete;
  Federation& operator=(const Federation&) = delete;

  /// The same as its end, which others may still call then: nothing comes of it.
  void stop();

  /// All peers, once they are known whole, and after each change. A peer that is left out is forgotten.
  void set_peers(std::vector<PeerSpec> peers);
  /// All functions wait for its thread. They may be called after its end, too: it is an error then.
  View view();
  /// By `namespace/name`, of the objects of `set_peers`.
  std::map<std::string, PeerStatus> statuses() const;
  /// Counts changes of the statuses.
  std::uint64_t changes() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace edge::federation
