// ResourceSet -> LinkedConfig: references, both forms of a field, defaults, conflicts.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

/// Always gives a configuration. What does not resolve is reported and narrows: a route with an unknown gateway
/// attaches nowhere, an unknown backend answers 500, a gateway with an unknown VIP binds nothing, a policy that cannot
/// be enforced denies. Linear in the number of resources.
LinkedConfig link(model::ResourceSet resources, Diagnostics& diagnostics);

/// The same without what travels beside a program: endpoints and secrets are not in it (values.h), and nothing is said
/// of backends without endpoints. Puts `resources` in order, and takes out what comes twice.
LinkedConfig link_names(model::ResourceSet& resources, Diagnostics& diagnostics);

}  // namespace edge::compiler::link
