// Checks the references of the operator's and the SD-WAN's kinds. They add nothing to a program; the results are
// diagnostics and conditions.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/resolve.h"
#include "compiler/link/secrets.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

/// What these kinds refer to, apart from each other.
struct ClusterTargets {
  const Resolver& gateways;
  const SecretTable& secrets;
  const Scope& scope;
};

/// Checks EdgeCluster, EdgeRemoteCluster, Site, WANLink and WANPolicy; `resources` has no duplicates. Of two claims on
/// one thing (a controller class, a site's network) the older wins, as elsewhere.
void check_clusters(const model::ResourceSet& resources, const ClusterTargets& targets, Diagnostics& diagnostics,
                    LinkedConfig& config);

}  // namespace edge::compiler::link
