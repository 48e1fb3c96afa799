// ResourceSet -> ResourceSet: converts Gateway API and Ingress to gateways, routes, backends and policies of the
// product, so that later stages see one model. Rule D8 selects this controller's resources.
//
// Results keep the kind, name and positions of their sources: a diagnostic of a later stage points into the user's
// HTTPRoute.
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

/// A backend made from a Service and its port.
struct MadeBackend {
  model::ProxyBackend backend;
  Diagnostics said;             ///< diagnostics of its creation
  std::set<std::string> users;  ///< resources that refer to it
};

/// State between translations, when only some routes are translated again.
struct KeptTranslation {
  std::map<std::string, MadeBackend> backends;  ///< by `namespace/name`
  bool others = false;                          ///< there are routes of Gateway API that are not in the set
  /// `Kind namespace/name` of the Ingresses whose routes are made; none: all. The others contribute only what they
  /// share: certificates of their class, shares of traffic.
  std::optional<std::set<std::string>> ingresses;

  /// Removes references of `users`, and backends without references.
  void let_go(const std::function<bool(const std::string&)>& users);
};

/// Returns only the translated resources: gateways, routes, backends, policies and grants. Depends only on the set, not
/// its order. An unresolvable reference is reported and answers 500, and so does a rule that cannot be translated
/// exactly: nothing is widened. Linear in the size of the set.
///
/// `controller`: this controller's class. `kept`: backends made before are included in the result, and new ones are
/// added to it. References of resources that are translated again must have been removed from it, and the sources of
/// backends must be unchanged. Null: no earlier backends.
model::ResourceSet translate(const model::ResourceSet& resources, std::string_view controller, Diagnostics& diagnostics,
                             KeptTranslation* kept = nullptr);

/// Adds the translated resources to the set.
void append(model::ResourceSet made, model::ResourceSet& resources);

/// For callers with another class than the default one (rule D8). The stages serve the class `usual`. To serve `ours`,
/// swaps the two in `resources`; a gateway without a class belongs to `usual`.
void serve_class(std::string_view ours, std::string_view usual, model::ResourceSet& resources);

}  // namespace edge::compiler::translate
