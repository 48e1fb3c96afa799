// Formats the conditions of a configuration, for golden files and `edgectl validate --conditions`: of every resource
// with errors, and of all resources of Gateway API, with the conditions that its specification requires: GatewayClass
// Accepted; Gateway Accepted and Programmed; listeners Accepted, Conflicted, Programmed and ResolvedRefs; routes, for
// each parent, Accepted and ResolvedRefs.
#pragma once

#include <string>

#include "compiler/link/linked_config.h"

namespace edge::compiler::link {

/// Returns the conditions of a Gateway whose stored status is `status`: Accepted and Programmed follow from its
/// listeners.
std::vector<Condition> gateway_conditions(const ResourceStatus& status);
/// Returns all four conditions of a listener.
std::vector<Condition> listener_conditions(const ListenerStatus& status);
/// Returns Accepted, ResolvedRefs and other stored conditions. `parent` nullptr: one without errors.
std::vector<Condition> parent_conditions(const ResourceStatus* route, const ParentStatus* parent);

/// Returns one line per condition, sorted by resource.
std::string conditions_text(const LinkedConfig& config);

}  // namespace edge::compiler::link
