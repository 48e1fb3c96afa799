// The controller's end of the Kubernetes API: follows every kind that the compiler reads, writes statuses and events,
// stands for leader. A thread with a loop of its own.
//
// An API server that is away takes nothing from the controller: it goes on with what it knows, and catches up.
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
  /// One of several controllers writes statuses: the holder of a Lease. Without it, this one.
  bool elect = false;
  std::string identity;
  std::string lease_namespace = "edge-system";
  /// The embedded API: Endpoints are followed, too, which Kubernetes mirrors to EndpointSlices.
  bool embedded = false;
  /// The label of Nodes that ClusterEvents::node tells of; empty: Nodes are not followed.
  std::string node_label{};
  Logger log;
};

/// On the cluster's thread.
struct ClusterEvents {
  std::function<void(std::vector<ObjectEdit>)> edited;
  /// What the label of a node is; empty: it has none, or is gone. Null: nobody asks.
  std::function<void(const std::string& node, std::string value)> node{};
  /// All labels of a node; empty: it has none, or is gone.
  std::function<void(const std::string& node, Labels labels)> node_labels{};
  /// All nodes that there are have been told. Once, before `synced`; never where they may not be read.
  std::function<void()> nodes_synced{};
  /// What there is has been told whole. Once.
  std::function<void()> synced;
  /// After each write of a status: how long it took.
  std::function<void(std::chrono::nanoseconds)> wrote;
};

/// A write that the API has acknowledged.
struct WrittenObject {
  std::string group;
  ResourceId key;
  std::uint64_t version = 0;  ///< the object's resourceVersion; of one that is gone: 0
  bool gone = false;
};

struct ClusterCounts {
  std::uint64_t kinds = 0;    ///< that are followed
  std::uint64_t objects = 0;  ///< of them
  std::map<std::string, std::uint64_t> by_kind{};
  std::uint64_t events = 0;  ///< of watches and lists, that were told
  bool connected = false;
  bool leads = false;
  StatusCounts statuses;
};

class Cluster {
 public:
  /// Fails where the configuration's keys cannot be used, not where the server is away.
  static Result<std::unique_ptr<Cluster>> start(ClusterOptions options, ClusterEvents events);
  /// Gives the Lease back, breaks off what is under way, joins.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // From any thread.
  void set_desired(std::vector<DesiredStatus> desired_statuses);
  void agents(AgentsView view);
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
