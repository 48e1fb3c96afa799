// What is known of another cluster in the status of its EdgeRemoteCluster.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/status/agents_view.h"

namespace edge::controller {

/// Adds phase, version, agents, program and the condition `Connected`. `name`: with its namespace.
void overlay_remote(const AgentsView& agents, const std::string& name, nlohmann::json& status);

/// Returns the clusters of which another status is to be written.
std::vector<std::string> remotes_that_differ(const AgentsView& a, const AgentsView& b);

}  // namespace edge::controller
