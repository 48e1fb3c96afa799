#include "controller/operator/access.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schemas/schema.h"

namespace edge::cluster_operator {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const Words kRead = {"get", "list", "watch"};
const Words kWrite = {"get", "list", "watch", "create", "update", "patch", "delete"};

Json rule(const Words& groups, const Words& resources, const Words& verbs) {
  return {{"apiGroups", groups}, {"resources", resources}, {"verbs", verbs}};
}

std::string group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string() : std::string(api_version.substr(0, slash));
}

/// Kinds of others that have a status which the controller writes.
bool has_foreign_status(std::string_view kind) {
  static const std::set<std::string_view> kKinds = {"Ingress",   "GatewayClass", "Gateway",  "HTTPRoute",
                                                    "GRPCRoute", "TLSRoute",     "TCPRoute", "BackendTLSPolicy"};
  return kKinds.contains(kind);
}

}  // namespace

Json controller_rules() {
  std::map<std::string, std::set<std::string>> followed;
  std::map<std::string, std::set<std::string>> statuses;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.kind == "Endpoints") continue;  // of the embedded API alone
    const std::string group = group_of(kind.api_version);
    followed[group].emplace(kind.plural);
    if (kind.own || has_foreign_status(kind.kind)) statuses[group].insert(std::string(kind.plural) + "/status");
  }
  followed[""].insert("nodes");
  Json rules = Json::array();
  for (const auto& [group, resources] : followed) {
    rules.push_back(rule({group}, {resources.begin(), resources.end()}, kRead));
  }
  for (const auto& [group, resources] : statuses) {
    rules.push_back(rule({group}, {resources.begin(), resources.end()}, {"get", "patch", "update"}));
  }
  rules.push_back(rule({""}, {"events"}, {"create", "patch", "update"}));
  return rules;
}

Json lease_rules() {
  return Json::array(
      {rule({"coordination.k8s.io"}, {"leases"}, {"get", "list", "watch", "create", "update", "patch"})});
}

Json operator_cluster_rules() {
  Json rules = controller_rules();
  rules.push_back(rule({"rbac.authorization.k8s.io"}, {"clusterroles", "clusterrolebindings"}, kWrite));
  return rules;
}

Json operator_rules() {
  return Json::array({
      rule({EDGE_API_GROUP}, {"edgeclusters"}, kRead),
      rule({EDGE_API_GROUP}, {"edgeclusters/status"}, {"get", "patch", "update"}),
      // An owner reference that holds back the owner's deletion asks for it.
      rule({EDGE_API_GROUP}, {"edgeclusters/finalizers"}, {"update"}),
      rule({""}, {"configmaps", "secrets", "serviceaccounts", "services"}, kWrite),
      rule({""}, {"pods"}, {"get", "list", "watch", "delete"}),
      rule({"apps"}, {"deployments", "daemonsets"}, kWrite),
      rule({"policy"}, {"poddisruptionbudgets"}, kWrite),
      rule({"rbac.authorization.k8s.io"}, {"roles", "rolebindings"}, kWrite),
      rule({"coordination.k8s.io"}, {"leases"}, {"get", "list", "watch", "create", "update", "patch"}),
  });
}

}  // namespace edge::cluster_operator
