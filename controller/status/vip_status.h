// Agents' reports of a ProxyVIP in its status.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "controller/status/agents_view.h"
#include "controller/status/status_document.h"

namespace edge::controller {

/// Adds the node with the address, its epoch, and the conditions `Ready`, `Announced` and `Degraded`. `name`: with its
/// namespace.
void overlay_vip(const AgentsView& agents, const std::string& name, nlohmann::json& status);

/// A change of the node that holds it, with its cause: of type `CurrentNode`, and without a node `False`. nullopt: it
/// is that of `before`.
std::optional<ConditionFlip> move_of(const AgentsView& agents, const std::string& name, const nlohmann::json& before,
                                     const nlohmann::json& status);

}  // namespace edge::controller
