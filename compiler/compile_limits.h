// Bounds that hold for one host whatever its routes ask for. Part of `compile`.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/compile_refusals.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler {

/// Different headers and query keys that the routes of one host may test: each request that comes so far pays for all.
inline constexpr std::size_t kMaxHostSlots = 4096;

/// The routes to leave out so that `host` keeps within `limit`: none in the usual case. The older route holds, the
/// newer is told so (kTooMany).
std::vector<RouteRefusal> routes_over_limit(const LinkedConfig& config, const ir::Host& host, std::size_t limit);

}  // namespace edge::compiler
