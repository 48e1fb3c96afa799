// The controller's connection to the Kubernetes API: watches every kind that the compiler reads, writes statuses,
// events and the Services of Gateways, takes part in leader election. On an event loop of its own with a thread, or one
// that is given.
//
// While the API server is unreachable the controller continues with its last state, and catches up afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/log.h"
#include "compiler/link/ordered_certificates.h"
#include "controller/acme/certificates.h"
#include "controller/kube/config.h"
#include "controller/reconcile/program_builder.h"
#include "controller/status/agents_view.h"
#include "controller/status/status_queue.h"
#include "controller/status/status_writer.h"

namespace edge::controller {

struct ClusterOptions {
  kube::Config config;
  std::string controller_class;
  StatusQueueOptions status;
  /// With several controllers only the holder of a Lease writes statuses. False: this one does.
  bool elect = false;
  std::string identity;
  std::string lease_namespace = "edge-system";
  /// The embedded API: Endpoints are watched too, which Kubernetes would mirror to EndpointSlices.
  bool embedded = false;
  /// The label of Nodes for ClusterEvents::node; empty: Nodes are not watched.
  std::string node_label{};
  /// A loop that runs as long as the cluster does; null: it has one of its own, with a thread.
  net::Loop* loop = nullptr;
  std::string dns_hook{};  ///< acme::CertificatesOptions
  Logger log;
};

/// Called on the loop's thread.
struct ClusterEvents {
  std::function<void(std::vector<ObjectEdit>)> edited;
  /// Called with the label's value of a node; empty: the node has no label, or was deleted. May be null.
  std::function<void(const std::string& node, std::string value)> node{};
  /// All labels of a node; empty: it has none, or is gone.
  std::function<void(const std::string& node, Labels labels)> node_labels{};
  /// All nodes that there are have been told. Once, before `synced`; never where they may not be read.
  std::function<void()> nodes_synced{};
  /// Called once when all existing objects have been passed on.
  std::function<void()> synced;
  /// Called after each write of a status with its duration.
  std::function<void(std::chrono::nanoseconds)> wrote;
  acme::CertificateEvents certificates{};
  /// RevokedAgentsOptions: which agents are revoked here, and elsewhere. The latter is told before `synced`.
  std::function<std::string()> own_revoked;
  std::function<void(const std::string&)> revoked;
};

/// A write that the API has acknowledged.
struct WrittenObject {
  std::string group;
  ResourceId key;
  std::uint64_t version = 0;  ///< the object's resourceVersion; 0 for a deleted object
  bool gone = false;
};

struct ClusterCounts {
  std::uint64_t kinds = 0;    ///< that are watched
  std::uint64_t objects = 0;  ///< of these kinds
  std::map<std::string, std::uint64_t> by_kind{};
  std::uint64_t events = 0;  ///< of watches and lists, that were passed on
  bool connected = false;
  bool leads = false;
  StatusCounts statuses;
  acme::CertificateCounts certificates{};
};

class Cluster {
 public:
  /// Fails when the configuration's keys are unusable, not when the server is unreachable.
  static Result<std::unique_ptr<Cluster>> start(ClusterOptions options, ClusterEvents events);
  /// Releases the Lease, cancels calls in progress. Not from the loop's thread, which calls no more when it returns.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Threads: any.
  void set_desired(std::vector<DesiredStatus> desired_statuses);
  void agents(AgentsView view);
  /// The certificates that the configuration needs from CAs.
  void set_certificates(std::shared_ptr<const compiler::OrderedCertificates> ordered);
  /// Names that clients ask agents for.
  void want_names(std::vector<acme::WantedName> names);
  /// RevokedAgents::share; `done` is called on the loop's thread.
  void share_revoked(std::function<void(Status)> done);
  /// Whether what other controllers have revoked until the start was handed on (ClusterEvents::revoked).
  bool knows_revoked() const;
  /// Asks the API for objects that are known, and hands them on as though they had changed.
  void read_again(std::vector<ResourceId> objects);
  ClusterCounts counts() const;
  /// Waits until all of `writes` that are followed have come by the watches and were handed on. Versions are compared
  /// as numbers, which only the embedded API's are. \returns false where they did not within `patience`.
  bool await_seen(std::vector<WrittenObject> writes, std::chrono::nanoseconds patience);
  /// Whether its thread gets to what it is given within `patience`.
  bool answers(std::chrono::nanoseconds patience) const;

 private:
  class Impl;
  explicit Cluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
