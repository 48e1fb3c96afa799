// The controller: what a cluster says becomes programs, programs go to agents, what they say goes back to the cluster.
//
//   Cluster (informers) -> ReconcileLoop -> Distributor -> agents
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
#include "controller/cluster.h"
#include "controller/distribute/agent_answer.h"
#include "controller/kube/config.h"
#include "metrics/exposition.h"
#include "program/format/format.h"

namespace edge::controller {

/// The label of agents that names their group, where nothing else is chosen.
inline constexpr std::string_view kGroupLabel = EDGE_API_GROUP "/group";

struct ControllerOptions {
  /// Signing key, authority, last programs. Made where it is missing (mode 0700).
  std::string data_dir;
  kube::Config config;
  /// Rule D8.
  std::string controller_class;
  /// Addresses that Gateways and Ingresses say they are reached by, where they name none.
  std::vector<std::string> published_addresses;
  /// Below which listeners may have files of certificates (spec.listeners.tls.certFile); none: no such file is read.
  std::vector<std::string> certificate_directories{};
  std::string listen = "0.0.0.0:9090";
  /// Names an agent's group by its value.
  std::string group_label = std::string(kGroupLabel);
  std::string listen_flag = "--agents-listen";  ///< what chooses it, for whoever cannot have it
  /// The API is the embedded one.
  bool embedded = false;
  bool elect = false;
  std::string identity;
  std::string lease_namespace = "edge-system";
  program::Target target = program::Target::kX8664V2;
  double status_rate = 100;  ///< writes a second
  Logger log;
  /// Starts paused: see pause().
  bool paused = false;
  /// The API has lost what it had, if it had anything: what the run before served stays in force until there is a
  /// listener again.
  bool api_began_empty = false;
  /// After changes of what the API has, on a thread of the controller's; null: nobody asks. `gone`: what it has no
  /// longer, of the kinds that are followed.
  std::function<void(const std::vector<ResourceId>& gone)> changed{};
  /// What administrators are told of the controller itself, by the paths of its admin port (DistributorOptions).
  std::function<AgentAnswer(const AgentQuestion&)> own_pages{};
};

/// Compiled beside what the API has, though the API does not have it.
struct ExtraDocument {
  ResourceId key;
  std::string document;  ///< JSON
  friend bool operator==(const ExtraDocument&, const ExtraDocument&) = default;
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
  /// Distributor::behind.
  std::string behind(const std::string& agent, const std::string& program) const;
  void write_metrics(metrics::Exposition& out) const;
  /// No program is made until resume(): what is written in between is one program. One at a time.
  void pause();
  /// Returns once the controller has seen all of `writes`. \returns false: it did not within some seconds, and makes a
  /// program of what it has.
  bool resume(std::vector<WrittenObject> writes);
  /// All of them, in place of those of the last call.
  void compile_beside(std::vector<ExtraDocument> documents);
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
