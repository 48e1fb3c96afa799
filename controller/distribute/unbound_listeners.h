// Listeners that clients cannot reach, as reported by agents: for one agent, and merged for all.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "controller/distribute/agents/agent_state.h"

namespace edge::controller {

/// Returns the reason of a condition (the first two are from Gateway API): `PortUnavailable`, `AddressNotUsable`,
/// `Pending`.
std::string_view condition_reason(BindFault fault);

/// Merges the reports, one per listener and address, ordered by gateway and listener; `reason` names the reporting
/// agent. A port is reported when one agent cannot open it, an address only when no agent has it: one of many nodes has
/// a virtual address.
std::vector<UnboundListener> unbound_of_all(std::span<const AgentState> agents);

}  // namespace edge::controller
