// Groups of agents that gateways are for: what of a LinkedConfig the agents of one group serve.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/linked_config.h"

namespace edge::compiler {

/// Each costs a program; a gateway that names one more is not served.
inline constexpr std::size_t kMostAgentGroups = 16;

/// Those that gateways name, ascending; empty: every gateway is for all agents.
std::vector<std::string> agent_groups(const LinkedConfig& config);

/// Gateways that are for all agents or for this group, their listeners and the routes on these. Of a group that no
/// gateway names, that is what is for all.
LinkedConfig config_of_group(const LinkedConfig& config, std::string_view group);

}  // namespace edge::compiler
