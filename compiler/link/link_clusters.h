// The kinds of the operator and of the SD-WAN: whether what they name is there. They add nothing to a program; what is
// found stands in diagnostics and conditions.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/resolve.h"
#include "compiler/link/secrets.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

/// What these kinds refer to beside each other.
struct ClusterTargets {
  const Resolver& gateways;
  const SecretTable& secrets;
  const Scope& scope;
};

/// Checks EdgeCluster, EdgeRemoteCluster, Site, WANLink and WANPolicy; `resources` holds no doubles. Two claims on one
/// thing (a controller class, a site's network) are settled as everywhere: the older holds.
void check_clusters(const model::ResourceSet& resources, const ClusterTargets& targets, Diagnostics& diagnostics,
                    LinkedConfig& config);

}  // namespace edge::compiler::link
