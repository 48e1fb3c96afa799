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

/// LinkedConfig::secrets of a configuration that was put together from parts: what all of it names, with the values
/// that `resources` have now, by the rules of link().
program::SecretSet secrets_of(const LinkedConfig& config, const model::ResourceSet& resources);

}  // namespace edge::compiler::link
