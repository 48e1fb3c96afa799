// ResourceSet -> LinkedConfig: resolves references, alternative forms of fields, defaults, conflicts.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

/// Always returns a configuration. Errors are reported and only narrow it: a route with an unknown gateway attaches
/// nowhere, an unknown backend answers 500, a gateway with an unknown VIP binds nothing, a policy that cannot be
/// enforced denies. Linear in the number of resources.
LinkedConfig link(model::ResourceSet resources, Diagnostics& diagnostics);

/// The same without endpoints and secrets (values.h), and without diagnostics of backends that have no endpoints. Sorts
/// `resources`, and removes duplicates.
LinkedConfig link_names(model::ResourceSet& resources, Diagnostics& diagnostics);

/// Findings about a policy are of its copies, one for each target (model/policy.h): these name the policy that was
/// written, and merge what there is of one.
Diagnostic named_as_written(Diagnostic diagnostic);
void name_as_written(std::vector<ResourceStatus>& statuses);

}  // namespace edge::compiler::link
