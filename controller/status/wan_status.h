// What agents measure and choose in the statuses of Site, WANLink and WANPolicy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/status/agents_view.h"
#include "controller/status/status_document.h"

namespace edge::controller {

/// Adds what is known, and the condition `Ready`, of a link `Healthy`. `name`: with its namespace.
void overlay_wan(const AgentsView& agents, std::string_view kind, const std::string& name, nlohmann::json& status);

/// Moves of a policy's traffic, as what changed in `paths`: of type `Path`.
std::vector<ConditionFlip> wan_moves(const nlohmann::json& before, const nlohmann::json& status);

/// Tunnels of a link that went down or came up, as what changed in `tunnels`: of type `Tunnel`, all of one reason
/// together. `name`: of the link, with its namespace.
std::vector<ConditionFlip> tunnel_changes(const AgentsView& agents, const std::string& name,
                                          const nlohmann::json& before, const nlohmann::json& status);

/// Tunnels that are still down have been so since the time that `before` has: agents reckon it anew from a clock that
/// is set.
void keep_tunnel_times(const nlohmann::json& before, nlohmann::json& status);

/// Whether only figures of a link have changed, and nothing that they decide.
bool only_figures(const nlohmann::json& fields);

/// Returns the resources of which another status is to be written, as `KIND NAMESPACE/NAME`.
std::vector<std::string> wan_that_differ(const AgentsView& a, const AgentsView& b);

/// `12.3ms`: three digits.
std::string figure_text(std::uint32_t microseconds);
/// `0.25%`, of a share per 100,000.
std::string share_text(std::uint32_t share);

}  // namespace edge::controller
