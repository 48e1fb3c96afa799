// What connects this cluster to others: its hub and its spokes, relays among them, the federation and the traffic
// between clusters.
//
//   EdgeRemoteClusters, Secrets --> ConnectedClusters --> directory of services (values of agents)
//                                     |          |
//                 spokes --> RemoteClusters   Hubs, Spoke --> hubs
//                                     |          |
//                                     +- Tunnels +- Federation
//
// Owned by the controller, and made before its distributor, whose server has its services.
//
//   start   ConnectedClusters, begin, connect; the distributor calls `services` at its start, or when first called
//   end     stop, the end of the distributor, ~ConnectedClusters
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/distribute/questions.h"
#include "controller/federation/run/federation.h"
#include "controller/reconcile/program_builder.h"
#include "controller/remote/hubs.h"
#include "controller/remote/remote_clusters.h"
#include "controller/remote/spoke.h"
#include "controller/remote/spoke_questions.h"
#include "controller/remote/spoke_reads.h"
#include "controller/remote/traffic.h"
#include "controller/remote/tunnel.h"
#include "metrics/exposition.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace edge::controller {

class Hub;

struct ConnectedClustersOptions {
  std::string data_dir;
  std::string shared_dir{};  ///< as ControllerOptions
  std::string cluster_uid;
  const program::SigningKey& key;  ///< of the cluster; outlives the clusters
  kube::Config config;             ///< of the own API
  /// The hub that flags name, as ControllerOptions; both empty: none.
  std::string hub{};
  std::string hub_join{};
  std::vector<std::string> hub_kinds{};
  std::vector<std::string> hub_namespaces{};
  bool hub_reads = true;  ///< see SpokeReads
  /// SpokeReadsOptions; any thread.
  std::function<std::shared_ptr<const std::vector<std::byte>>()> program{};
  std::function<AgentAnswer(const AgentQuestion&)> traces{};
  /// Whether a certificate, PEM, is of this cluster's authority. Not called before there are objects.
  std::function<bool(const std::string& certificate)> issued_here{};
  /// Whether this controller speaks for its cluster; any thread. May wait until the controller has started.
  std::function<bool()> leads{};
  /// Called after statuses of other clusters are others; any thread: gather, do not work.
  std::function<void()> changed{};
  /// TrafficOptions::changed.
  std::function<void(std::string directory)> directory{};
  Logger log;
};

/// Thread-safe, but for what is said below.
class ConnectedClusters {
 public:
  explicit ConnectedClusters(ConnectedClustersOptions options);
  ~ConnectedClusters();
  ConnectedClusters(const ConnectedClusters&) = delete;
  ConnectedClusters& operator=(const ConnectedClusters&) = delete;

  // ---- Start and stop: one thread ----
  /// The services for other clusters on the port of `hub`'s server (DistributorOptions::further), which must be gone
  /// before this object is.
  std::vector<std::shared_ptr<grpc::Service>> services(Hub& hub);
  /// Says the directory that was kept.
  void begin();
  /// Connects to the hub that flags name. A hub that is away changes nothing here; fails when the join file cannot be
  /// read.
  Status connect();
  /// Ends all connections: nothing is called any more. Whoever calls `take` and `synced` has ended.
  void stop();

  // ---- Objects: one thread, that of the watches ----
  /// EdgeRemoteClusters, of a spoke, or of a hub that this cluster connects to, which the certificate in their Secret
  /// tells.
  void take(const std::vector<ObjectEdit>& edits);
  /// All objects that there are have been taken.
  void synced();

  // ---- Any thread ----
  /// What is told to other clusters, see RemoteClusters.
  void set_own(std::uint32_t agents, std::uint32_t ready, const std::string& program);
  void set_exports(remote::Exports exports);
  /// Answers an administrator's question about clusters or federation. \returns false: it is about something else.
  bool answer(const AgentQuestion& question, const TakeAnswer& take);
  /// By `namespace/name`, hubs and spokes.
  remote::RemoteViews views() const;
  std::map<std::string, federation::PeerStatus> federation_statuses() const;
  /// Changes when one of the two above does, but for round trips and counts.
  std::uint64_t changes() const;
  /// `leads`: clusters connect to the controller that leads; of the others each would say that they are away.
  void write_metrics(metrics::Exposition& out, bool leads) const;

 private:
  using Name = std::pair<std::string, std::string>;

  /// Of what belongs to the cluster, and not to one of its controllers.
  const std::string& state_dir() const { return options_.shared_dir.empty() ? options_.data_dir : options_.shared_dir; }
  remote::SpokeOptions spoke_options();
  void name_peers();

  const ConnectedClustersOptions options_;
  remote::Tunnels tunnels_;
  remote::SpokeQuestions spoke_questions_;
  remote::SpokeReads spoke_reads_;
  remote::Traffic traffic_;
  remote::RemoteClusters remotes_;
  remote::Hubs hubs_;
  federation::Federation federation_;
  const federation::View federation_view_;
  std::atomic<std::uint64_t> hub_changes_ = 0;
  std::unique_ptr<remote::Spoke> spoke_;  ///< null: no flag names a hub
  std::string hub_address_;               ///< of `spoke_`
  bool connected_ = false;                ///< `connect` or `stop` was called
  std::latch spoke_known_{1};             ///< before it the two above are those of the thread that starts

  // Of the thread of the watches.
  std::map<Name, remote::RemoteSpec> specs_;
  std::map<Name, std::string> documents_;  ///< EdgeRemoteClusters as JSON
  bool objects_known_ = false;
};

}  // namespace edge::controller
