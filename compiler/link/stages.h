// The parts of linking, in the order in which link.cc calls them. Each resolves one kind of resource.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/names.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

Identity identity_of(const model::Metadata& metadata);

/// Fills config.gateways (one for each of `gateways`, same order) and config.listeners.
void link_gateways(const std::vector<model::ProxyGateway>& gateways, const std::vector<model::ProxyVip>& vips,
                   const Scope& scope, LinkedConfig& config);

/// Fills config.backends and config.endpoints. Gives for each of `backends` its index in config.backends; nullopt where
/// its service does not resolve.
std::vector<std::optional<std::uint32_t>> link_backends(const std::vector<model::ProxyBackend>& backends,
                                                        const model::ResourceSet& resources, const Scope& scope,
                                                        LinkedConfig& config);

/// What routes refer to.
struct RouteTargets {
  const Resolver& gateways;
  const Resolver& backends;
  /// By position of the ProxyBackend.
  const std::vector<std::optional<std::uint32_t>>& backend_index;
};

/// Fills config.routes; a route with a fault in a path is left out. Moves the strings out of `routes`.
void link_routes(std::vector<model::ProxyRoute>& routes, const RouteTargets& targets, LinkedConfig& config,
                 Diagnostics& diagnostics);

/// Sets LinkedRoute::denied where a policy cannot be enforced.
void link_policies(const std::vector<model::ProxyPolicy>& policies, const Resolver& gateways, const Resolver& routes,
                   LinkedConfig& config, Diagnostics& diagnostics);

}  // namespace edge::compiler::link
