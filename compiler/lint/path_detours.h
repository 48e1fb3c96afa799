// Protected paths that another spelling reaches without the protection.
#pragma once

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::lint {

/// Warns of each route with a policy that authenticates where the same backend is also served, on the same gateway and
/// host, by a route without it, and a path such as `//admin`, which the gateway lets pass as it came, takes that way:
/// many servers read it as `/admin`. Shows a request. One warning a route. Linear in the size of the set.
void lint_path_detours(const model::ResourceSet& resources, Diagnostics& diagnostics);

}  // namespace edge::compiler::lint
