#include "controller/resource_api/builtin_kinds.h"

#include <algorithm>
#include <span>

#include "controller/resource_api/objects/built_in/built_in.h"

namespace edge::resource_api {
namespace {

enum class Scope { kNamespaced, kCluster };
enum class Subresource { kNone, kStatus };

struct Row {
  std::string_view group;
  std::string_view kind;
  std::string_view plural;
  std::string_view singular;
  std::string_view short_name;  ///< several are separated by a comma
  Scope scope = Scope::kNamespaced;
  Subresource status = Subresource::kNone;
  std::string_view category = "";
  std::span<const std::string_view> fields{};
};

constexpr std::string_view kEventFields[] = {".involvedObject.kind",
                                             ".involvedObject.namespace",
                                             ".involvedObject.name",
                                             ".involvedObject.uid",
                                             ".involvedObject.apiVersion",
                                             ".involvedObject.resourceVersion",
                                             ".involvedObject.fieldPath",
                                             ".reason",
                                             ".reportingComponent",
                                             ".source",
                                             ".type"};
constexpr std::string_view kNewEventFields[] = {".regarding.kind",       ".regarding.namespace",
                                                ".regarding.name",       ".regarding.uid",
                                                ".regarding.apiVersion", ".regarding.resourceVersion",
                                                ".regarding.fieldPath",  ".reason",
                                                ".reportingController",  ".type"};
constexpr std::string_view kNamespaceFields[] = {".status.phase"};
constexpr std::string_view kNodeFields[] = {".spec.unschedulable"};
constexpr std::string_view kPodFields[] = {
    ".spec.nodeName",    ".spec.restartPolicy", ".spec.schedulerName", ".spec.serviceAccountName",
    ".spec.hostNetwork", ".status.phase",       ".status.podIP",       ".status.nominatedNodeName"};
constexpr std::string_view kSecretFields[] = {".type"};
constexpr std::string_view kServiceFields[] = {".spec.clusterIP", ".spec.type"};

// Kubernetes 1.33's names, as `kubectl api-resources` prints them. All are v1.
constexpr Row kRows[] = {
    {"", "ConfigMap", "configmaps", "configmap", "cm"},
    {"", "Endpoints", "endpoints", "endpoints", "ep"},
    {"", "Event", "events", "event", "ev", Scope::kNamespaced, Subresource::kNone, "", kEventFields},
    {"", "Namespace", "namespaces", "namespace", "ns", Scope::kCluster, Subresource::kStatus, "", kNamespaceFields},
    {"", "Node", "nodes", "node", "no", Scope::kCluster, Subresource::kStatus, "", kNodeFields},
    {"", "Pod", "pods", "pod", "po", Scope::kNamespaced, Subresource::kStatus, "all", kPodFields},
    {"", "Secret", "secrets", "secret", "", Scope::kNamespaced, Subresource::kNone, "", kSecretFields},
    {"", "Service", "services", "service", "svc", Scope::kNamespaced, Subresource::kStatus, "all", kServiceFields},
    {"", "ServiceAccount", "serviceaccounts", "serviceaccount", "sa"},
    {"apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", "customresourcedefinition",
     "crd,crds", Scope::kCluster, Subresource::kStatus, "api-extensions"},
    {"apps", "DaemonSet", "daemonsets", "daemonset", "ds", Scope::kNamespaced, Subresource::kStatus, "all"},
    {"apps", "Deployment", "deployments", "deployment", "deploy", Scope::kNamespaced, Subresource::kStatus, "all"},
    {"apps", "ReplicaSet", "replicasets", "replicaset", "rs", Scope::kNamespaced, Subresource::kStatus, "all"},
    {"coordination.k8s.io", "Lease", "leases", "lease", ""},
    {"discovery.k8s.io", "EndpointSlice", "endpointslices", "endpointslice", ""},
    {"events.k8s.io", "Event", "events", "event", "ev", Scope::kNamespaced, Subresource::kNone, "", kNewEventFields},
    {"networking.k8s.io", "Ingress", "ingresses", "ingress", "ing", Scope::kNamespaced, Subresource::kStatus},
    {"networking.k8s.io", "IngressClass", "ingressclasses", "ingressclass", "", Scope::kCluster},
    {"rbac.authorization.k8s.io", "ClusterRole", "clusterroles", "clusterrole", "", Scope::kCluster},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding", "",
     Scope::kCluster},
    {"rbac.authorization.k8s.io", "Role", "roles", "role", ""},
    {"rbac.authorization.k8s.io", "RoleBinding", "rolebindings", "rolebinding", ""},
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

}  // namespace

std::vector<ResourceTypePtr> builtin_types() {
  std::vector<ResourceTypePtr> types;
  for (const Row& row : kRows) {
    auto type = std::make_shared<ResourceType>();
    type->group = row.group;
    type->version = "v1";
    type->kind = row.kind;
    type->list_kind = std::string(row.kind) + "List";
    type->plural = row.plural;
    type->singular = row.singular;
    type->short_names = split(row.short_name);
    type->categories = split(row.category);
    type->namespaced = row.scope == Scope::kNamespaced;
    type->status = row.status == Subresource::kStatus;
    type->selectable_fields.assign(row.fields.begin(), row.fields.end());
    type->collection = type->group + "/" + type->plural;
    // Both stand for the life of the process, so there is nothing to own.
    type->columns = {std::shared_ptr<void>(), &objects::built_in_columns(row.group, row.kind)};
    type->shape = {std::shared_ptr<void>(), &objects::built_in_schema(row.group, row.kind)};
    if (row.group == "events.k8s.io") {  // a view of the core group's
      type->collection = kEvents;
      type->storage = false;
    }
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace edge::resource_api
