// ResourceSet -> ResourceSet: Gateway API and Ingress become gateways, routes, backends and policies of the own model,
// so that linking and what comes after it see one kind of thing. Rule D8 decides which of them are ours.
//
// What is made keeps the kind, name and places of what it was made from: a diagnostic of a later stage points into the
// user's HTTPRoute.
#pragma once

#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::translate {

/// What the foreign resources of `resources` amount to, alone: gateways, routes, backends, policies and grants. A
/// function of the set whatever its order. A reference that cannot be followed is reported and answers 500, a rule
/// whose meaning cannot be kept likewise: nothing is widened. Linear in the size of the set.
///
/// `controller`: the class that is ours.
model::ResourceSet translate(const model::ResourceSet& resources, std::string_view controller,
                             Diagnostics& diagnostics);

/// Adds what was made to the set.
void append(model::ResourceSet made, model::ResourceSet& resources);

}  // namespace edge::compiler::translate
