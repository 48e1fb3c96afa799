// Lints protected paths that are reachable without the protection by another spelling.
#pragma once

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::lint {

/// Warns of each route with an authentication policy where the same backend is also served, on the same gateway and
/// host, by a route without it, and a path such as `//admin`, which the gateway does not normalise, matches that route:
/// many servers treat it as `/admin`. Includes an example. One warning per route. Linear in the size of the set.
void lint_path_detours(const model::ResourceSet& resources, Diagnostics& diagnostics);

}  // namespace edge::compiler::lint
