// The controller: what a cluster says becomes programs, programs go to agents, what they say goes back to the cluster.
//
//   Cluster (informers) -> Reconciler -> Distributor -> agents
//      ^ statuses, events      |            | acknowledgements, health
//      +---- Verdicts ---------+------------+ AgentsView
//
// edge-controller runs one against a cluster; edge-standalone against the API that it holds itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "controller/kube/config.h"
#include "metrics/exposition.h"
#include "program/format.h"

namespace edge::controller {

struct ControllerOptions {
  /// Signing key, authority, last programs. Made where it is missing (mode 0700).
  std::string data_dir;
  kube::Config config;
  /// Rule D8.
  std::string controller_class;
  /// Addresses that Gateways and Ingresses say they are reached by, where they name none.
  std::vector<std::string> published_addresses;
  std::string listen = "0.0.0.0:9090";
  std::string listen_flag = "--listen";  ///< what chooses it, for whoever cannot have it
  /// The API is the embedded one.
  bool embedded = false;
  bool elect = false;
  std::string identity;
  std::string lease_namespace = "edge-system";
  program::Target target = program::Target::kX8664V2;
  double status_rate = 100;  ///< writes a second
  Logger log;
  /// What administrators are told of the controller itself, by the paths of its admin port (DistributorOptions).
  std::function<AgentAnswer(const AgentQuestion&)> own_pages{};
};

class Controller {
 public:
  /// Publishes the last program of the run before, then follows the cluster. Fails for a data directory, a key or an
  /// address that cannot be used; not for a server that is away.
  static Result<std::unique_ptr<Controller>> start(ControllerOptions options);
  /// Agents serve on.
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // From any thread.
  std::uint16_t port() const;
  /// Where this machine reaches it, `HOST:PORT`.
  std::string address() const;
  std::string join_file() const;
  /// Distributor::own_join_file.
  Result<std::string> own_join_file(const std::string& name);
  std::string admin_file() const;
  void write_metrics(metrics::Exposition& out) const;
  /// Whether the thread that speaks with the API gets to what it is given within `patience`.
  bool answers(std::chrono::nanoseconds patience) const;
  /// It has a program to give out.
  bool ready() const;

 private:
  class Impl;
  explicit Controller(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
