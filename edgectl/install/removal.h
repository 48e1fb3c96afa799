// Removes an installation: the EdgeClusters of a namespace and what was made of them, then the operator.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/resources/cluster.h"
#include "edgectl/resources/status_line.h"

namespace edge::edgectl {

struct RemovalSettings {
  std::string name_space;
  bool dry_run = false;
  /// The definitions too, with every object of these kinds in the cluster.
  bool definitions = false;
  /// Definitions of which there are objects, and an operator that Helm installed.
  bool force = false;
  bool remove_namespace = false;
  std::chrono::milliseconds patience{};
};

/// Can be repeated: what is gone already is passed over. Reports failures on stderr and returns the exit code.
class Removal {
 public:
  Removal(std::string_view command, Cluster& cluster, RemovalSettings settings);
  int run();

 private:
  int check();
  int check_definitions();
  int remove_clusters();
  int remove_cluster_wide();
  int remove_operator();
  int remove_definitions();
  int remove_all(const kube::Resource& resource, const kube::ListOptions& which);
  int remove(const kube::Resource& resource, const std::string& name_space, const std::string& name);
  int wait_until_empty(const kube::Resource& resource, const kube::ListOptions& which);

  std::string command_;
  Cluster& cluster_;
  const RemovalSettings settings_;
  StatusLine line_;
  Pauses pauses_;
  bool removed_ = false;
};

}  // namespace edge::edgectl
