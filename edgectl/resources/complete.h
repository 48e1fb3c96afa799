// What completion offers of what only a cluster knows. Each asks it once and waits a moment at most; where nothing
// answers, nothing is offered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

/// Contexts of ~/.edgectl/config; asks nobody.
std::vector<std::string> complete_context(const cli::Arguments& given, std::string_view typed);
std::vector<std::string> complete_namespace(const cli::Arguments& given, std::string_view typed);
/// `routes`, `gateways,routes`: of the own kinds, whose names need no cluster.
std::vector<std::string> complete_type(const cli::Arguments& given, std::string_view typed);
/// Names of resources of the type that was given as TYPE.
std::vector<std::string> complete_name(const cli::Arguments& given, std::string_view typed);
/// Names of agents, by the controller.
std::vector<std::string> complete_agent(const cli::Arguments& given, std::string_view typed);

}  // namespace edge::edgectl
