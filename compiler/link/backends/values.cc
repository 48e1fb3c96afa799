#include "compiler/link/backends/values.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "compiler/link/resolve.h"
#include "compiler/link/secrets.h"

namespace edge::compiler::link {
namespace {

using Slices = std::vector<const model::EndpointSlice*>;

/// The port of a slice that serves a port of its service: by name, as Kubernetes has it. Slices written by hand often
/// name none; one unnamed port then stands for a service's only one.
std::uint16_t slice_port(const model::EndpointSlice& slice, const EndpointSource& source) {
  const std::vector<model::EndpointPort>& ports = source.udp ? slice.udp_ports : slice.ports;
  for (const model::EndpointPort& candidate : ports) {
    if (candidate.name == source.port) return candidate.port;
  }
  if (ports.size() != 1) return 0;
  const bool unnamed = ports[0].name.empty();
  if (source.only_port && (unnamed || source.port.empty())) return ports[0].port;
  return unnamed && source.target_port == ports[0].port ? ports[0].port : 0;
}

/// What Kubernetes says of whose agents should use it, else the zone where it is, if the Service asks for that. Without
/// either an endpoint serves every zone alike, as Kubernetes has it.
program::EndpointZones zones_of(const model::EndpointAddress& address, const EndpointSource& source) {
  program::EndpointZones zones;
  for (const std::string& zone : address.for_zones) {
    if (program::is_zone(zone) && zones.size() < program::kMostEndpointZones) zones.push_back(zone);
  }
  if (zones.empty() && source.prefers_zone && program::is_zone(address.zone)) zones.push_back(address.zone);
  return zones;
}

std::string title(const EndpointSource& source) { return "Service " + source.name_space + "/" + source.name; }

void report(const LinkedBackend& backend, Diagnostics& diagnostics) {
  const EndpointSource& source = backend.source;
  diagnostics.add({.code = DiagnosticCode::kNoEndpoints,
                   .severity = Severity::kWarning,
                   .resource = backend.identity.text(),
                   .field = "spec.serviceRef",
                   .span = source.reference,
                   .message = no_endpoints(source).message,
                   .labels = {{source.service, "the service"}},
                   .fix = "add an EndpointSlice with the label `kubernetes.io/service-name: " + source.name + "`"});
}

ResourceStatus status_with(const LinkedBackend& backend, Condition condition) {
  ResourceStatus status{.kind = backend.identity.kind,
                        .name_space = backend.identity.name_space,
                        .name = backend.identity.name,
                        .observed_generation = backend.source.generation};
  set_condition(status.conditions, std::move(condition));
  return status;
}

/// The least percentage that allows one of them to be ejected.
std::size_t least_percent(std::size_t endpoints) { return (100 + endpoints - 1) / endpoints; }

/// Lints tell of 0, which allows nothing however many endpoints there are.
void report_ejection(const LinkedBackend& backend, std::size_t endpoints, const Condition& found,
                     Diagnostics& diagnostics) {
  const PassiveCheckSettings& check = *backend.passive_check;
  if (check.max_ejection_percent == 0) return;
  diagnostics.add({.code = DiagnosticCode::kNoEjection,
                   .severity = Severity::kWarning,
                   .resource = backend.identity.text(),
                   .field = std::string(check.percent_field),
                   .span = check.percent_span,
                   .message = found.message,
                   .fix = "set `maxEjectionPercent` to at least " + std::to_string(least_percent(endpoints)) +
                          ", add endpoints, or leave the check out"});
}

}  // namespace

std::vector<program::Endpoint> endpoints_of(const EndpointSource& source, const Slices& slices) {
  program::BackendEndpoints all;
  for (const model::EndpointSlice* slice : slices) {
    const std::uint16_t number = slice_port(*slice, source);
    if (number == 0) continue;
    for (const model::EndpointAddress& address : slice->addresses) {
      all.endpoints.push_back(
          {.address = address.address, .port = number, .ready = address.ready, .zones = zones_of(address, source)});
    }
  }
  // Of doubles the ready one stays: slices overlap while they are rewritten.
  program::sort(all);
  return std::move(all.endpoints);
}

program::BackendEndpoints endpoints_of(const LinkedBackend& backend, const Slices& slices) {
  const Identity& identity = backend.identity;
  program::BackendEndpoints all = {
      .backend_id = stable_id("ProxyBackend", identity.name_space, identity.name),
      .name_space = identity.name_space,
      .name = identity.name,
      .endpoints = backend.has_own_endpoints() ? backend.endpoints : endpoints_of(backend.source, slices),
      .names = backend.names};
  add_gateways(backend.failover.clusters, {}, all.endpoints);
  return all;
}

std::vector<const ExportingCluster*> exporting(const LinkedCluster& cluster, const ExportingClusters& known) {
  std::vector<const ExportingCluster*> found;
  for (const ExportingCluster& one : known) {
    const bool meant = cluster.cluster == "*" || cluster.cluster == one.name;
    if (meant && one.services.contains(cluster.service) && found.size() < program::kMostClusterRefs) {
      found.push_back(&one);
    }
  }
  return found;
}

void add_gateways(const std::vector<LinkedCluster>& clusters, const ExportingClusters& known,
                  std::vector<program::Endpoint>& endpoints) {
  if (clusters.empty()) return;
  const auto named = [&](const std::string& name) {
    return std::ranges::any_of(clusters, [&](const LinkedCluster& one) { return one.cluster == name; });
  };
  for (const LinkedCluster& cluster : clusters) {
    endpoints.insert(endpoints.end(), cluster.gateways.begin(), cluster.gateways.end());
    for (const ExportingCluster* one : exporting(cluster, known)) {
      // One that has a reference of its own is not meant by `*`; written addresses replace those that are told.
      if (cluster.cluster == "*" ? named(one->name) : !cluster.gateways.empty()) continue;
      for (const auto& [address, port] : one->gateways) {
        endpoints.push_back(
            {.address = address,
             .port = port,
             .zones = one->region.empty() ? program::EndpointZones() : program::EndpointZones{one->region},
             .cluster = one->name,
             .healthy_percent = one->services.at(cluster.service)});
      }
    }
  }
  program::BackendEndpoints all;
  all.endpoints = std::move(endpoints);
  program::sort(all);
  endpoints = std::move(all.endpoints);
}

Condition no_endpoints(const EndpointSource& source) {
  return {std::string(condition::kHealthy), ConditionStatus::kFalse, std::string(reason::kNoEndpoints),
          title(source) + " has no endpoints for this port; requests are answered 503"};
}

std::optional<std::uint8_t> ejection_percent(const LinkedBackend& backend) {
  const auto& check = backend.passive_check;
  // Of one that counts nothing the lints tell.
  if (!check || (check->consecutive_errors == 0 && check->consecutive_gateway_errors == 0)) return std::nullopt;
  return backend.passive_check->max_ejection_percent;
}

std::optional<Condition> no_ejection(std::optional<std::uint8_t> percent, std::size_t endpoints) {
  if (!percent || endpoints == 0 || program::may_eject(endpoints, 0, *percent)) return std::nullopt;
  return Condition{std::string(condition::kNoEjection), ConditionStatus::kTrue,
                   std::string(reason::kMaxEjectionPercentTooSmall),
                   "no endpoint is ever ejected: " + std::to_string(*percent) + "% of " + std::to_string(endpoints) +
                       (endpoints == 1 ? " endpoint" : " endpoints") + " is less than one"};
}

void add_values(const model::ResourceSet& resources, LinkedConfig& config, Diagnostics& diagnostics) {
  std::unordered_map<std::string, Slices> slices;
  for (const model::EndpointSlice& slice : resources.slices) {
    slices[slice.metadata.name_space + "/" + slice.service].push_back(&slice);
  }
  config.endpoints = {};
  const Slices none;
  for (const LinkedBackend& backend : config.backends) {
    if (backend.identity.name.empty()) continue;  // a place that is free (compiler/workspace_link.h)
    const auto found = slices.find(backend.source.name_space + "/" + backend.source.name);
    config.endpoints.backends.push_back(endpoints_of(backend, found == slices.end() ? none : found->second));
    // How many endpoints names stand for is known to agents alone.
    if (!config.endpoints.backends.back().names.empty()) continue;
    const std::size_t endpoints = config.endpoints.backends.back().endpoints.size();
    if (endpoints == 0 && backend.failover.clusters.empty()) {
      report(backend, diagnostics);
      config.statuses.push_back(status_with(backend, no_endpoints(backend.source)));
    } else if (auto too_few = endpoints == 0 ? std::nullopt : no_ejection(ejection_percent(backend), endpoints)) {
      report_ejection(backend, endpoints, *too_few, diagnostics);
      config.statuses.push_back(status_with(backend, *std::move(too_few)));
    }
  }
  std::ranges::sort(config.endpoints.backends, {}, &program::BackendEndpoints::backend_id);
  sort_and_merge(config.statuses);
  config.secrets = collect_secrets(config, resources);
}

}  // namespace edge::compiler::link
