// What the requests of a route or a gateway cost at most: the hosts that they are looked up in.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "program/read.h"

namespace edge::edgectl::web {

enum class CostOf : std::uint8_t { kRoute, kGateway };

/// `name`: `namespace/name`. Returns a list of hosts, the most expensive first, with bounds, patterns, and how many of
/// their rules are the route's. At most kMostCostHosts.
nlohmann::ordered_json cost_json(const program::ProgramView& program, CostOf of, const std::string& name);

}  // namespace edge::edgectl::web
