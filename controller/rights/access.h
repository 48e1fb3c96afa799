// What edge-controller asks of the Kubernetes API, as the rules of RBAC that allow it and nothing else. deploy/rbac is
// made of it; on a real API server script/check-cluster fails when a call is refused, and when a rule allows what
// nobody asks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schemas/schema.h"

namespace edge::controller {

/// The ConfigMap in the namespace of the Lease that says which agents are revoked (controller/revoked_agents.h).
inline constexpr std::string_view kRevokedAgentsMap = "edge-revoked-agents";

/// One rule of a role.
struct AccessRule {
  std::string group;  ///< empty: core
  std::vector<std::string> resources{};
  std::vector<std::string> verbs{};
  std::vector<std::string> names{};  ///< empty: every object
  friend bool operator==(const AccessRule&, const AccessRule&) = default;
};

/// Whether the controller lists and watches the kind. `embedded`: the API is the product's own, which mirrors no
/// Endpoints.
bool follows(const schemas::Kind& kind, bool embedded);

/// In every namespace, for an API of Kubernetes.
std::vector<AccessRule> cluster_access();
/// In the namespace of the Lease.
std::vector<AccessRule> lease_access();
/// Where certificates are ordered from CAs (controller/acme): they, their orders and accounts are Secrets. Beside
/// cluster_access(), and only where somebody has chosen it, since it is a right to every Secret of a namespace.
/// Decision 0411.
std::vector<AccessRule> ordering_access();

/// Whose a right is that is given apart. In a chart each is an expression that Helm fills in.
struct RolePlace {
  std::string role;  ///< name of the ClusterRole
  std::string service_account;
  std::string name_space;  ///< of the service account
};
/// A ClusterRole with ordering_access() or federation_access(), and what binds it: in every namespace, or in one.
nlohmann::ordered_json ordering_role(const RolePlace& place);
nlohmann::ordered_json federation_role(const RolePlace& place);
nlohmann::ordered_json role_binding(const RolePlace& place);
nlohmann::ordered_json role_binding_in(const RolePlace& place, const std::string& name_space);

/// For federation, in addition: what it writes of the product's own kinds that it may share. Where
/// Secrets are shared, it takes ordering_access(), too.
std::vector<AccessRule> federation_access();

/// As `rules` of a Role or a ClusterRole.
nlohmann::ordered_json rules_json(const std::vector<AccessRule>& rules);
/// Namespace, service account, roles and bindings, in YAML.
std::string access_manifest();
/// The right to order certificates in every namespace, in YAML.
std::string ordering_manifest();
/// ClusterRole of federation_access and its binding, in YAML: apart, as who does not federate gives no such right.
std::string federation_manifest();
/// FlowSchemas (API Priority and Fairness) in YAML: what the controller asks waits behind no other workload's calls,
/// and its Lease behind none of its own.
std::string priority_manifest();

}  // namespace edge::controller
