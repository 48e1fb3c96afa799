// Rules that keep clients at their endpoints by one cookie or header, and send them to different backends.
#pragma once

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::lint {

/// Warns of each rule with `sessionPersistence` whose cookie, or header, another rule of the same gateway and host uses
/// for other backends: a client that uses both loses its endpoint at each change. Cookies of different paths are
/// different cookies. One warning a rule. Linear in the size of the set.
void lint_shared_sessions(const model::ResourceSet& resources, Diagnostics& diagnostics);

}  // namespace edge::compiler::lint
