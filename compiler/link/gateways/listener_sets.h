// What the statuses of ListenerSets say: whether their Gateway takes them, and which of their listeners are served.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/link/conditions.h"
#include "compiler/model/gateway.h"

namespace edge::compiler::link {

/// What became of the listeners of one ListenerSet.
struct ListenerSetState {
  bool allowed = false;                     ///< by the Gateway's `allowedListeners`
  std::vector<ListenerStatus> listeners{};  ///< in the order of spec.listeners
};

/// Adds the statuses of the gateway's ListenerSets, of which `sets` has one state each. `refused`: why nothing of the
/// gateway is served; empty where something may be. \returns how many are accepted.
std::uint32_t add_set_statuses(const model::ProxyGateway& gateway, std::string_view refused,
                               std::vector<ListenerSetState> sets, std::vector<ResourceStatus>& statuses);

}  // namespace edge::compiler::link
