// The proof's findings for the status of routes: condition `Shadowed` (decisions: "a later route that can never match
// is programmed, and gets a condition that names the winner and a request that shows it").
#pragma once

#include <span>
#include <vector>

#include "compiler/analyze/prove.h"
#include "compiler/link/conditions.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::analyze {

/// One status for each route with a rule that wins nothing on some host, for sort_and_merge with the linker's. The
/// first rule of a route is told in full, the others are counted.
std::vector<ResourceStatus> shadow_statuses(const LinkedConfig& config, std::span<const Shadowing> shadowed);

}  // namespace edge::compiler::analyze
