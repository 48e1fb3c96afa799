// Agents' reports of a ProxyVIP in its status.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "controller/status/agents_view.h"

namespace edge::controller {

/// Adds the node with the address, its epoch, and the conditions `Ready`, `Announced` and `Degraded`. `name`: with its
/// namespace.
void overlay_vip(const AgentsView& agents, const std::string& name, nlohmann::json& status);

}  // namespace edge::controller
