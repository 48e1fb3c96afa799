// ResourceSet -> ResourceSet: Gateway API and Ingress become gateways, routes, backends and policies of the own model,
// so that linking and what comes after it see one kind of thing. Rule D8 decides which of them are ours.
//
// What is made keeps the kind, name and places of what it was made from: a diagnostic of a later stage points into the
// user's HTTPRoute.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::translate {

/// A backend that was made of a Service and its port.
struct MadeBackend {
  model::ProxyBackend backend;
  Diagnostics said;             ///< while it was made
  std::set<std::string> users;  ///< resources that refer to it
};

/// What goes from one translation to the next of a set of which some routes alone are translated anew.
struct KeptTranslation {
  std::map<std::string, MadeBackend> backends;  ///< by `namespace/name`
  bool others = false;                          ///< there are routes of Gateway API that are not in the set
  /// `Kind namespace/name` of the Ingresses of which routes are made; none: of all. Those that are not named hold what
  /// they hold in common: certificates of their class, shares of traffic.
  std::optional<std::set<std::string>> ingresses;

  /// `users` refer to nothing any more; a backend that nobody refers to goes.
  void let_go(const std::function<bool(const std::string&)>& users);
};

/// What the foreign resources of `resources` amount to, alone: gateways, routes, backends, policies and grants. A
/// function of the set whatever its order. A reference that cannot be followed is reported and answers 500, a rule
/// whose meaning cannot be kept likewise: nothing is widened. Linear in the size of the set.
///
/// `controller`: the class that is ours. `kept`: backends that were made before are among those that are made, and stay
/// in it with the new ones. Who is translated anew must have let go of what he referred to, and what a backend is made
/// of be what it was. Null: nothing was.
model::ResourceSet translate(const model::ResourceSet& resources, std::string_view controller, Diagnostics& diagnostics,
                             KeptTranslation* kept = nullptr);

/// Adds what was made to the set.
void append(model::ResourceSet made, model::ResourceSet& resources);

/// For callers that have another class than the default one (rule D8). The stages serve the class `usual`. So that they
/// serve `ours`, these two change places in `resources`; a gateway that names no class is of `usual`.
void serve_class(std::string_view ours, std::string_view usual, model::ResourceSet& resources);

}  // namespace edge::compiler::translate
