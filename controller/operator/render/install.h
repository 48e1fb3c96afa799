// What installs the operator: its objects, as plain manifests (deploy/install.yaml) and as Helm charts (deploy/charts).
// All of it is made from the tables of kinds and from what the operator needs; the target update-deploy writes the
// files.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::cluster_operator {

/// How the operator is installed. In a chart each is an expression that Helm fills in.
struct OperatorPlace {
  std::string name_space;
  std::string image;
  std::string pull_policy;
  std::string upgrade_definitions = "true";
};

/// Labels of what gives the right to order certificates, and to write what is federated.
inline constexpr std::string_view kOrderingComponent = "acme";
inline constexpr std::string_view kFederationComponent = "federation";
inline constexpr std::string_view kClusterNamespaceLabel = EDGE_API_GROUP "/cluster-namespace";

/// The right of an EdgeCluster's controller to order certificates: a ClusterRole, and what binds it, in every namespace
/// or in `namespaces` and in that of the cluster, where controllers keep what they tell each other. The operator
/// neither has that right nor gives it: who installs it does. Decision 0411.
std::vector<nlohmann::ordered_json> ordering_objects(const std::string& name_space, const std::string& cluster,
                                                     const std::vector<std::string>& namespaces);

/// The right of its controller to write what other clusters share, likewise; `namespaces` empty: in every namespace.
std::vector<nlohmann::ordered_json> federation_objects(const std::string& name_space, const std::string& cluster,
                                                       const std::vector<std::string>& namespaces);

/// ServiceAccount, rights and Deployment of the operator, in this order.
std::vector<nlohmann::ordered_json> operator_objects(const OperatorPlace& place);
/// Path below the checkout, and text.
std::vector<std::pair<std::string, std::string>> deploy_files();

}  // namespace edge::cluster_operator
