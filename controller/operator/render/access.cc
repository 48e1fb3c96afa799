#include "controller/operator/render/access.h"

#include <algorithm>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "controller/rights/access.h"
#include "schemas/schema.h"

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

Json web_rules() {
  // Nothing of that name is stored: it stands for the pages of agents.
  Words own = {"agents"};
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest != nullptr) own.emplace_back(kind.plural);
  }
  Json rules = Json::array({rule({EDGE_API_GROUP}, own, kRead), rule({"", "events.k8s.io"}, {"events"}, kRead)});
  for (const controller::AccessRule& read : controller::cluster_access()) {
    if (read.group == EDGE_API_GROUP || std::ranges::find(read.verbs, "list") == read.verbs.end()) continue;
    Words resources = read.resources;
    std::erase(resources, "secrets");
    if (!resources.empty()) rules.push_back(rule({read.group}, resources, kRead));
  }
  return rules;
}

Json operator_cluster_rules() {
  Json rules = controller_rules();
  // Nobody may give away what he has not.
  for (const auto& read : web_rules()) rules.push_back(read);
  rules.push_back(rule({"rbac.authorization.k8s.io"}, {"clusterroles", "clusterrolebindings"}, kWrite));
  // What is made anew has no name yet that a rule could be bound to.
  rules.push_back(rule({"apiextensions.k8s.io"}, {"customresourcedefinitions"}, {"create"}));
  Json definitions = rule({"apiextensions.k8s.io"}, {"customresourcedefinitions"}, {"get", "patch"});
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    definitions["resourceNames"].push_back(std::string(kind.plural) + "." EDGE_API_GROUP);
  }
  rules.push_back(std::move(definitions));
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
