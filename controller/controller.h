// The controller: compiles a cluster's resources to programs, distributes them to agents, and reports status to the
// cluster.
//
//   Cluster (informers) -> ReconcileLoop -> Distributor -> agents
//      ^ statuses, events      |            | acknowledgements, health
//      +---- Verdicts ---------+------------+ AgentsView
//
// edge-controller runs one for a cluster; edge-standalone for its embedded API.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/cluster.h"
#include "controller/distribute/agent_answer.h"
#include "controller/distribute/local_agent.h"
#include "controller/kube/config.h"
#include "metrics/exposition.h"
#include "program/format/format.h"

namespace edge::net {
class Loop;
}

namespace edge::controller {

/// The default label of agents that names their group.
inline constexpr std::string_view kGroupLabel = EDGE_API_GROUP "/group";

struct ControllerOptions {
  /// Directory for signing key, authority, last programs. Created when missing (mode 0700).
  std::string data_dir;
  /// Directory that all controllers of the cluster have, for what belongs to the cluster: the state of federation, what
  /// connects it with others. Created likewise. Empty: `data_dir`, which each has for itself.
  std::string shared_dir{};
  kube::Config config;
  /// Rule D8.
  std::string controller_class;
  /// Addresses for the status of Gateways and Ingresses that request none.
  std::vector<std::string> published_addresses;
  /// Directories in which listeners may refer to certificate files (spec.listeners.tls.certFile); empty: none.
  std::vector<std::string> certificate_directories{};
  /// Program for TXT records of CertificateIssuers with `dns.provider: Hook`; empty: none.
  std::string dns_hook{};
  std::string listen = "0.0.0.0:9090";
  /// The label whose value is an agent's group.
  std::string group_label = std::string(kGroupLabel);
  std::string listen_flag = "--agents-listen";  ///< the flag that sets `listen`, for error messages
  /// The API is the embedded one.
  bool embedded = false;
  /// As ClusterOptions::loop and DistributorOptions::accept_on.
  net::Loop* loop = nullptr;
  bool elect = false;
  std::string identity;
  std::string lease_namespace = "edge-system";
  program::Target target = program::Target::kX8664V2;
  double status_rate = 100;  ///< status writes per second
  Logger log;
  /// Starts paused: see pause().
  bool paused = false;
  /// The API has lost its data, if it had any: the last program of the previous run stays in force until there is a
  /// listener again.
  bool api_began_empty = false;
  /// Address of a hub's agents port that this cluster connects to, `HOST:PORT`, and the join file that the hub made for
  /// it. The file alone says the address too; both empty: this cluster has no hub.
  std::string hub{};
  std::string hub_join{};
  /// What is exchanged with that hub: kinds, and namespaces (empty: all). Without kinds nothing is.
  std::vector<std::string> hub_kinds{};
  std::vector<std::string> hub_namespaces{};
  /// Whether hubs may read objects of this project's kinds, and the program.
  bool hub_reads = true;
  /// Whether they may read a trace of which they know the id, too.
  bool hub_reads_traces = false;
  /// Called after changes of the API's objects, on a thread of the controller; may be null. `gone`: deleted objects of
  /// watched kinds.
  std::function<void(const std::vector<ResourceId>& gone)> changed{};
  /// Serves the controller's own admin pages to administrators by the agents' port (DistributorOptions).
  std::function<AgentAnswer(const AgentQuestion&)> own_pages{};
};

/// Compiled in addition to the API's objects, without being stored there.
struct ExtraDocument {
  ResourceId key;
  std::string document;  ///< JSON
  friend bool operator==(const ExtraDocument&, const ExtraDocument&) = default;
};

class Controller {
 public:
  /// Publishes the last program of the previous run, then watches the cluster. Fails for an unusable data directory,
  /// key or address; not when the server is unreachable.
  static Result<std::unique_ptr<Controller>> start(ControllerOptions options);
  /// Agents continue to serve.
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Threads: any.
  std::uint16_t port() const;
  /// Returns the address for clients on this machine, `HOST:PORT`.
  std::string address() const;
  std::string join_file() const;
  std::string admin_file() const;
  /// Distributor::behind.
  std::string behind(const std::string& agent, const std::string& program) const;
  void write_metrics(metrics::Exposition& out) const;
  /// Suspends compiling until resume(), so that all writes in between make one program. One caller at a time.
  void pause();
  /// Waits until the controller has seen all of `writes`. \returns false: it did not within some seconds, and compiles
  /// what it has.
  bool resume(std::vector<WrittenObject> writes);
  /// Distributor::connect. The agent must be gone before the controller is.
  Result<std::unique_ptr<LocalAgent>> connect(std::string name, const std::string& hello, LocalAgentEvents events);
  /// Tells clusters apart: of the signing key, and so alike for all controllers of a cluster.
  std::string cluster_uid() const;
  /// PEM, of the key that programs are signed with.
  std::string program_key() const;
  /// All of them, in place of those of the last call.
  void compile_beside(std::vector<ExtraDocument> documents);
  /// Returns whether the cluster's thread responds within `patience`.
  bool answers(std::chrono::nanoseconds patience) const;
  /// Returns whether there is a program for agents.
  bool ready() const;

 private:
  class Impl;
  explicit Controller(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
