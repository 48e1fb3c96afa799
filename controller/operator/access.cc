#include "controller/operator/access.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/rights/access.h"

namespace edge::cluster_operator {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const Words kRead = {"get", "list", "watch"};
const Words kWrite = {"get", "list", "watch", "create", "patch", "delete"};

Json rule(const Words& groups, const Words& resources, const Words& verbs) {
  return {{"apiGroups", groups}, {"resources", resources}, {"verbs", verbs}};
}

}  // namespace

Json controller_rules() { return controller::rules_json(controller::cluster_access()); }

Json lease_rules() { return controller::rules_json(controller::lease_access()); }

Json operator_cluster_rules() {
  Json rules = controller_rules();
  rules.push_back(rule({"rbac.authorization.k8s.io"}, {"clusterroles", "clusterrolebindings"}, kWrite));
  return rules;
}

Json operator_rules() {
  return Json::array({
      rule({EDGE_API_GROUP}, {"edgeclusters"}, kRead),
      rule({EDGE_API_GROUP}, {"edgeclusters/status"}, {"patch"}),
      // An owner reference that holds back the owner's deletion asks for it.
      rule({EDGE_API_GROUP}, {"edgeclusters/finalizers"}, {"update"}),
      rule({""}, {"configmaps", "secrets", "serviceaccounts", "services"}, kWrite),
      rule({""}, {"pods"}, {"get", "list", "watch", "delete"}),
      rule({"apps"}, {"deployments", "daemonsets"}, kWrite),
      rule({"policy"}, {"poddisruptionbudgets"}, kWrite),
      rule({"rbac.authorization.k8s.io"}, {"roles", "rolebindings"}, kWrite),
      // Its own, and those that controllers get.
      rule({"coordination.k8s.io"}, {"leases"}, {"get", "create", "update"}),
  });
}

}  // namespace edge::cluster_operator
