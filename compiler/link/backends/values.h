// What travels beside a program, of a configuration that is linked: the endpoints of its backends, and the secrets that
// it names. Each is a function of one backend, or one secret, and of what there is of its name, so that whoever keeps
// these (controller/endpoints) finds the one anew that changed, without linking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/cluster.h"
#include "compiler/model/resource_set.h"
#include "program/values/endpoints.h"

namespace edge::compiler::link {

/// Of slices of the Service that `source` names, in any order.
std::vector<program::Endpoint> endpoints_of(const EndpointSource& source,
                                            const std::vector<const model::EndpointSlice*>& slices);
/// The same with the backend's name.
program::BackendEndpoints endpoints_of(const LinkedBackend& backend,
                                       const std::vector<const model::EndpointSlice*>& slices);
/// What is to be said of a backend that has none: a condition of type `Healthy`.
Condition no_endpoints(const EndpointSource& source);
/// What is to be said of a backend whose passive check could eject none of so many endpoints, were they all ready: a
/// condition of type `NoEjection`. nullopt: it could, or there is no endpoint. `percent`: ejection_percent() of it.
std::optional<Condition> no_ejection(std::optional<std::uint8_t> percent, std::size_t endpoints);
/// nullopt: there is no passive check, or none that counts anything.
std::optional<std::uint8_t> ejection_percent(const LinkedBackend& backend);

/// Names that `config` asks values of, each with a key; in no order, doubles among them. Of ConfigMaps they begin with
/// model::kConfigMapPrefix.
std::vector<SecretKey> secret_names(const LinkedConfig& config);

/// Fills `config.endpoints` and `config.secrets`, and says which backends have no endpoints, or too few for ejection.
void add_values(const model::ResourceSet& resources, LinkedConfig& config, Diagnostics& diagnostics);

}  // namespace edge::compiler::link
