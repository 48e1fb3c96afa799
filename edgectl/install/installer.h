// Applies what is planned, object by object, and waits for what it makes.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/install/plan.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/status_line.h"

namespace edge::edgectl {

struct ApplySettings {
  bool dry_run = false;
  /// Takes fields from other managers.
  bool force = false;
  /// Of all waiting together.
  std::chrono::milliseconds patience{};
};

/// Every function returns an exit code and reports failures on stderr.
class Installer {
 public:
  Installer(std::string_view command, Cluster& cluster, const InstallOptions& options, ApplySettings settings);

  /// Applies all of them, in their order; prints a line for each. An EdgeCluster that is there stays as it is.
  int apply(const std::vector<Planned>& objects);
  /// Deletes what binds a right that the options give and is not planned, as after other namespaces were named.
  int remove_other_bindings(const std::vector<Planned>& objects);
  /// Waits until the operator's Deployment runs what was applied.
  int wait_for_operator();
  /// Sets the version of every EdgeCluster of the namespace, and their repository where `repository` is not empty.
  int upgrade_clusters(const std::string& repository);
  /// Waits until every EdgeCluster of the namespace is Running as it says now.
  int wait_for_clusters();

 private:
  int remove_other_bindings(std::string_view component, const std::vector<Planned>& objects);
  int apply(const Planned& object);
  int refused(const Planned& object, const kube::Failure& failure);
  int wait_for_definitions(const std::vector<Planned>& objects);
  int upgrade_cluster(const kube::Object& object, const std::string& repository);
  int timed_out(const std::string& what);
  std::string pod_trouble();

  std::string command_;
  Cluster& cluster_;
  const InstallOptions& options_;
  const ApplySettings settings_;
  StatusLine line_;
  Pauses pauses_;
  std::set<std::string> warnings_;    ///< of the server, each told once
  bool namespace_missing_ = false;    ///< in a dry run: what is in it cannot be sent
  bool definitions_missing_ = false;  ///< in a dry run
};

/// The resource of the EdgeClusters.
kube::Resource edge_clusters();

}  // namespace edge::edgectl
