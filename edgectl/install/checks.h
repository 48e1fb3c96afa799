// What is looked at before an installation. Each function takes what the API said, and asks nothing itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

struct Check {
  enum class State : std::uint8_t { kPassed, kWarning, kFailed };
  State state = State::kPassed;
  std::string text;
};

enum class InstallVerb : std::uint8_t { kInstall, kUpgrade };

/// `git_version`: of /version.
Check check_api_version(std::string_view git_version);

/// `live`: the definitions of own kinds that are there. Objects that are stored in a form which this version lacks
/// would be lost, so that fails.
Check check_definitions(const std::vector<nlohmann::json>& live);

/// `deployment`: the operator's; null: there is none. `tag`: the version that is to be installed.
Check check_installed(const nlohmann::json& deployment, std::string_view tag, InstallVerb verb);

/// `object`: the namespace; null: there is none yet. Agents use directories of their nodes, which a pod security level
/// may forbid.
Check check_namespace(const nlohmann::json& object);

/// Machines, operating systems and kernels that agents can run on.
std::vector<Check> check_nodes(const std::vector<nlohmann::json>& nodes);

/// Ports of nodes that agents listen on.
struct AgentPorts {
  std::int64_t metrics = 0;
  std::int64_t health = 0;
};
/// `pods`: of all namespaces; those of `own_namespace` with the label of this project are no strangers.
std::vector<Check> check_ports(const std::vector<nlohmann::json>& pods, const AgentPorts& ports,
                               std::string_view own_namespace);

/// `missing`: what the user may not do, such as `create clusterroles.rbac.authorization.k8s.io`.
Check check_rights(const std::vector<std::string>& missing);

}  // namespace edge::edgectl
