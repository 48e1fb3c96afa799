// The values of a linked configuration, which are sent apart from its program: the endpoints of its backends, and the
// secrets that it refers to. Each is a function of one backend or secret and the objects of its name, so that a single
// change can be recomputed (controller/endpoints) without linking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/ip.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/cluster.h"
#include "compiler/model/resource_set.h"
#include "program/values/endpoints.h"

namespace edge::compiler::link {

/// Another cluster as it has told of itself.
struct ExportingCluster {
  std::string name;
  std::string region{};
  std::vector<std::pair<IpAddress, std::uint16_t>> gateways{};
  /// By what its gateway is asked for: how much of it is healthy, 0 to 100.
  std::map<std::string, std::uint8_t> services{};
  friend bool operator==(const ExportingCluster&, const ExportingCluster&) = default;
};
/// Ascending by name.
using ExportingClusters = std::vector<ExportingCluster>;

/// Returns the clusters that a reference means, at most kMostClusterRefs.
std::vector<const ExportingCluster*> exporting(const LinkedCluster& cluster, const ExportingClusters& known);
/// Adds the gateways of other clusters to a backend's endpoints.
void add_gateways(const std::vector<LinkedCluster>& clusters, const ExportingClusters& known,
                  std::vector<program::Endpoint>& endpoints);

/// From slices of the Service that `source` names, in any order.
std::vector<program::Endpoint> endpoints_of(const EndpointSource& source,
                                            const std::vector<const model::EndpointSlice*>& slices);
/// The same for a backend.
program::BackendEndpoints endpoints_of(const LinkedBackend& backend,
                                       const std::vector<const model::EndpointSlice*>& slices);
/// Returns the condition of a backend without endpoints, of type `Healthy`.
Condition no_endpoints(const EndpointSource& source);
/// Returns the condition of a backend whose passive check could eject none of so many endpoints, even if all were
/// ready, of type `NoEjection`. nullopt: it could, or there is no endpoint. `percent`: its ejection_percent().
std::optional<Condition> no_ejection(std::optional<std::uint8_t> percent, std::size_t endpoints);
/// nullopt: there is no passive check, or none that counts errors.
std::optional<std::uint8_t> ejection_percent(const LinkedBackend& backend);

/// Returns the names of the values that `config` needs, each with a key; unordered, with duplicates. Those of
/// ConfigMaps begin with model::kConfigMapPrefix.
std::vector<SecretKey> secret_names(const LinkedConfig& config);

/// Sets `config.endpoints` and `config.secrets`, and reports backends without endpoints, or with too few for ejection.
void add_values(const model::ResourceSet& resources, LinkedConfig& config, Diagnostics& diagnostics);

}  // namespace edge::compiler::link
