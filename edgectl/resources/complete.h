// Completions that need a cluster. Each contacts it once and waits briefly; without an answer nothing is offered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

/// Contexts of ~/.edgectl/config; without a request.
std::vector<std::string> complete_context(const cli::Arguments& given, std::string_view typed);
std::vector<std::string> complete_namespace(const cli::Arguments& given, std::string_view typed);
/// `routes`, `gateways,routes`: own kinds, without a request.
std::vector<std::string> complete_type(const cli::Arguments& given, std::string_view typed);
/// Names of resources of the given TYPE.
std::vector<std::string> complete_name(const cli::Arguments& given, std::string_view typed);
/// Names of the EdgeRemoteClusters.
std::vector<std::string> complete_remote_cluster(const cli::Arguments& given, std::string_view typed);
/// Names of agents, from the controller.
std::vector<std::string> complete_agent(const cli::Arguments& given, std::string_view typed);

}  // namespace edge::edgectl
