// The conditions of a configuration as text, for golden files and `edgectl validate --conditions`: of every resource
// that is not plainly fine, and of the kinds of Gateway API all, each with the conditions that its specification asks
// for: GatewayClass Accepted; Gateway Accepted and Programmed; listeners Accepted, Conflicted, Programmed and
// ResolvedRefs; routes, for each parent, Accepted and ResolvedRefs.
#pragma once

#include <string>

#include "compiler/link/linked_config.h"

namespace edge::compiler::link {

/// The conditions of a Gateway whose stored status is `status`: Accepted and Programmed follow from its listeners.
std::vector<Condition> gateway_conditions(const ResourceStatus& status);
/// All four conditions of a listener.
std::vector<Condition> listener_conditions(const ListenerStatus& status);
/// Accepted, ResolvedRefs and what else is stored. `parent` nullptr: one of which nothing bad is known.
std::vector<Condition> parent_conditions(const ResourceStatus* route, const ParentStatus* parent);

/// One line a condition, sorted by resource.
std::string conditions_text(const LinkedConfig& config);

}  // namespace edge::compiler::link
