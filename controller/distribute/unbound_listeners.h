// Listeners that clients do not reach, as agents report them: on one agent, and of all of them together.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "controller/distribute/agent_state.h"

namespace edge::controller {

/// Reason of a condition (Gateway API has the first two): `PortUnavailable`, `AddressNotUsable`, `Pending`.
std::string_view condition_reason(BindFault fault);

/// What is amiss of all agents together, one a listener and address, in the order of gateways and listeners; `reason`
/// says which agent's word it is. A port that one agent cannot open is amiss, an address when no agent has it: the
/// holder of a virtual address is one of many.
std::vector<UnboundListener> unbound_of_all(std::span<const AgentState> agents);

}  // namespace edge::controller
