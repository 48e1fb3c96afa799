#include "controller/rights/access.h"

#include <map>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "controller/kube/elector.h"
#include "controller/kube/lease.h"
#include "controller/kube/recorder.h"
#include "controller/rights/statuses.h"
#include "schemas/federated_kinds.h"
#include "schemas/yaml_text.h"

namespace edge::controller {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kName = "edge-controller";
constexpr const char* kFederation = "edge-controller-federation";
constexpr const char* kRbac = "rbac.authorization.k8s.io";
constexpr const char* kRbacVersion = "rbac.authorization.k8s.io/v1";

std::string api_group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string() : std::string(api_version.substr(0, slash));
}

OrderedJson named(const char* kind, const char* api_version, bool namespaced, const char* name = kName) {
  OrderedJson object;
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  object["metadata"]["name"] = name;
  if (namespaced) object["metadata"]["namespace"] = kube::ElectorOptions{}.name_space;
  return object;
}

OrderedJson role(const char* kind, bool namespaced, const std::vector<AccessRule>& rules, const char* name = kName) {
  OrderedJson object = named(kind, kRbacVersion, namespaced, name);
  object["rules"] = rules_json(rules);
  return object;
}

OrderedJson binding(const char* kind, const char* role_kind, bool namespaced, const char* name = kName) {
  OrderedJson object = named(kind, kRbacVersion, namespaced, name);
  object["roleRef"] = {{"apiGroup", kRbac}, {"kind", role_kind}, {"name", name}};
  object["subjects"] = OrderedJson::array(
      {OrderedJson{{"kind", "ServiceAccount"}, {"name", kName}, {"namespace", kube::ElectorOptions{}.name_space}}});
  return object;
}

OrderedJson flow_schema(const std::string& name, int precedence, const char* level, const AccessRule& calls,
                        const std::vector<std::string>& namespaces) {
  OrderedJson object = named("FlowSchema", "flowcontrol.apiserver.k8s.io/v1", /*namespaced=*/false);
  object["metadata"]["name"] = name;
  OrderedJson& spec = object["spec"];
  spec["priorityLevelConfiguration"]["name"] = level;
  spec["matchingPrecedence"] = precedence;
  OrderedJson rule;
  rule["subjects"] = OrderedJson::array(
      {OrderedJson{{"kind", "ServiceAccount"},
                   {"serviceAccount", {{"name", kName}, {"namespace", kube::ElectorOptions{}.name_space}}}}});
  OrderedJson of_resources;
  of_resources["verbs"] = calls.verbs;
  of_resources["apiGroups"] = {calls.group};
  of_resources["resources"] = calls.resources;
  const bool everywhere = namespaces.front() == "*";
  if (everywhere) of_resources["clusterScope"] = true;
  of_resources["namespaces"] = namespaces;
  rule["resourceRules"] = OrderedJson::array({std::move(of_resources)});
  if (everywhere)
    rule["nonResourceRules"] = OrderedJson::array({OrderedJson{{"verbs", {"*"}}, {"nonResourceURLs", {"*"}}}});
  spec["rules"] = OrderedJson::array({std::move(rule)});
  return object;
}

}  // namespace

bool follows(const schemas::Kind& kind, bool embedded) {
  // Kubernetes mirrors Endpoints to EndpointSlices.
  return embedded || kind.kind != "Endpoints";
}

std::vector<AccessRule> cluster_access() {
  struct Of {
    std::vector<std::string> read{};     ///< listed and watched
    std::vector<std::string> told{};     ///< of them, those with a status, which is read anew after a conflict
    std::vector<std::string> written{};  ///< the statuses
  };
  std::map<std::string, Of> groups;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (!follows(kind, /*embedded=*/false)) continue;
    Of& of = groups[api_group_of(kind.api_version)];
    const std::string plural(kind.plural);
    if (!has_status(kind.kind)) {
      of.read.push_back(plural);
      continue;
    }
    of.told.push_back(plural);
    of.written.push_back(plural + "/status");
  }
  groups[{}].read.emplace_back("nodes");
  std::vector<AccessRule> rules;
  for (auto& [group, of] : groups) {
    if (!of.read.empty()) rules.push_back({group, std::move(of.read), {"list", "watch"}});
    if (of.told.empty()) continue;
    rules.push_back({group, std::move(of.told), {"get", "list", "watch"}});
    rules.push_back({group, std::move(of.written), {"patch"}});
  }
  // For Gateways that ask for one.
  const std::vector<std::string> made = {"create", "patch", "delete"};
  rules.push_back({"", {"services"}, made});
  rules.push_back({"discovery.k8s.io", {"endpointslices"}, made});
  // Conditions of issuers of certificates.
  rules.push_back({EDGE_API_GROUP, {"certificateissuers"}, {"get"}});
  rules.push_back({EDGE_API_GROUP, {"certificateissuers/status"}, {"patch"}});
  const kube::Resource& event = kube::event_resource();
  rules.push_back({event.group, {event.plural}, {"create", "patch"}});
  return rules;
}

std::vector<AccessRule> ordering_access() { return {{"", {"secrets"}, {"create", "delete", "get", "update"}}}; }

std::vector<AccessRule> federation_access() {
  AccessRule written{EDGE_API_GROUP, {}, {"get", "create", "update", "delete"}};
  for (const std::string_view name : schemas::federated_kinds()) {
    const schemas::Kind* const kind = schemas::find_own_kind(name);
    if (kind != nullptr) written.resources.emplace_back(kind->plural);
  }
  return {std::move(written)};
}

std::vector<AccessRule> lease_access() {
  const kube::Resource& lease = kube::lease_resource();
  return {{lease.group, {lease.plural}, {"create"}},
          {lease.group, {lease.plural}, {"get", "update"}, {kube::ElectorOptions{}.name}},
          {"", {"configmaps"}, {"create"}},
          {"", {"configmaps"}, {"get", "patch"}, {std::string(kRevokedAgentsMap)}}};
}

OrderedJson rules_json(const std::vector<AccessRule>& rules) {
  OrderedJson made = OrderedJson::array();
  for (const AccessRule& rule : rules) {
    OrderedJson entry;
    entry["apiGroups"] = {rule.group};
    entry["resources"] = rule.resources;
    if (!rule.names.empty()) entry["resourceNames"] = rule.names;
    entry["verbs"] = rule.verbs;
    made.push_back(std::move(entry));
  }
  return made;
}

namespace {

OrderedJson role_with(const RolePlace& place, const std::vector<AccessRule>& rules) {
  OrderedJson object;
  object["apiVersion"] = kRbacVersion;
  object["kind"] = "ClusterRole";
  object["metadata"]["name"] = place.role;
  object["rules"] = rules_json(rules);
  return object;
}

}  // namespace

OrderedJson ordering_role(const RolePlace& place) { return role_with(place, ordering_access()); }
OrderedJson federation_role(const RolePlace& place) { return role_with(place, federation_access()); }

OrderedJson role_binding(const RolePlace& place) {
  OrderedJson object;
  object["apiVersion"] = kRbacVersion;
  object["kind"] = "ClusterRoleBinding";
  object["metadata"]["name"] = place.role;
  object["roleRef"] = {{"apiGroup", kRbac}, {"kind", "ClusterRole"}, {"name", place.role}};
  object["subjects"] = OrderedJson::array(
      {OrderedJson{{"kind", "ServiceAccount"}, {"name", place.service_account}, {"namespace", place.name_space}}});
  return object;
}

OrderedJson role_binding_in(const RolePlace& place, const std::string& name_space) {
  OrderedJson object = role_binding(place);
  object["kind"] = "RoleBinding";
  object["metadata"]["namespace"] = name_space;
  return object;
}

std::string ordering_manifest() {
  const RolePlace place{
      .role = std::string(kName) + "-acme", .service_account = kName, .name_space = kube::ElectorOptions{}.name_space};
  return "# For automatic certificates: edge-controller may write Secrets of every namespace. To limit it to some, "
         "bind\n"
         "# the role by a RoleBinding in each of them in place of the ClusterRoleBinding, and in " +
         place.name_space +
         ", where\n"
         "# controllers that do not lead keep a Secret, by which the leader knows them.\n---\n" +
         schemas::yaml_text(ordering_role(place)) + "---\n" + schemas::yaml_text(role_binding(place));
}

std::string access_manifest() {
  OrderedJson name_space;
  name_space["apiVersion"] = "v1";
  name_space["kind"] = "Namespace";
  name_space["metadata"]["name"] = kube::ElectorOptions{}.name_space;
  const OrderedJson objects[] = {std::move(name_space),
                                 named("ServiceAccount", "v1", /*namespaced=*/true),
                                 role("ClusterRole", /*namespaced=*/false, cluster_access()),
                                 binding("ClusterRoleBinding", "ClusterRole", /*namespaced=*/false),
                                 role("Role", /*namespaced=*/true, lease_access()),
                                 binding("RoleBinding", "Role", /*namespaced=*/true)};
  std::string text =
      "# What edge-controller asks of the Kubernetes API, and nothing else; made from what it follows and writes.\n";
  for (const OrderedJson& object : objects) text += "---\n" + schemas::yaml_text(object);
  return text;
}

std::string federation_manifest() {
  const OrderedJson objects[] = {role("ClusterRole", /*namespaced=*/false, federation_access(), kFederation),
                                 binding("ClusterRoleBinding", "ClusterRole", /*namespaced=*/false, kFederation)};
  std::string text =
      "# What edge-controller writes in addition where it federates (docs/federation.md); made from the kinds that it "
      "may share.\n";
  for (const OrderedJson& object : objects) text += "---\n" + schemas::yaml_text(object);
  return text;
}

std::string priority_manifest() {
  // The levels are those that every cluster has; that of leader election has no queue that others fill.
  constexpr int kOfLeases = 150;
  constexpr int kOfAll = 850;
  const kube::Resource& lease = kube::lease_resource();
  const OrderedJson objects[] = {flow_schema(std::string(kName) + "-lease", kOfLeases, "leader-election",
                                             {lease.group, {lease.plural}, {"*"}}, {kube::ElectorOptions{}.name_space}),
                                 flow_schema(kName, kOfAll, "workload-high", {"*", {"*"}, {"*"}}, {"*"})};
  std::string text =
      "# How soon the Kubernetes API answers edge-controller while others ask much of it; for Kubernetes 1.29 and "
      "newer.\n";
  for (const OrderedJson& object : objects) text += "---\n" + schemas::yaml_text(object);
  return text;
}

}  // namespace edge::controller
