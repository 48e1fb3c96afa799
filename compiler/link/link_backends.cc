#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "compiler/link/defaults.h"
#include "compiler/link/retry_on.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

constexpr std::pair<std::string_view, program::Balance> kPolicies[] = {
    {"RoundRobin", program::Balance::kRoundRobin},
    {"LeastConn", program::Balance::kLeastConn},
    {"P2C", program::Balance::kP2c},
    {"EWMA", program::Balance::kEwma},
    {"RingHash", program::Balance::kRingHash},
    {"Maglev", program::Balance::kMaglev},
    {"Random", program::Balance::kRandom},
};

template <typename T>
std::uint32_t number_or(const model::Maybe<T>& value, std::uint32_t fallback) {
  return value ? static_cast<std::uint32_t>(value->value) : fallback;
}

std::chrono::nanoseconds duration_or(const model::Maybe<model::Duration>& value, std::chrono::nanoseconds fallback) {
  return value ? value->value : fallback;
}

LinkedBackend make_backend(const model::ProxyBackend& backend) {
  LinkedBackend linked{.identity = identity_of(backend.metadata)};
  linked.balance = kDefaults.balance;
  for (const auto& [name, value] : kPolicies) {
    if (backend.lb_policy && backend.lb_policy->value == name) linked.balance = value;
  }
  linked.max_connections = number_or(backend.max_connections, kDefaults.max_connections);
  linked.max_pending_requests = number_or(backend.max_pending_requests, kDefaults.max_pending_requests);
  if (backend.circuit_breaker) {
    // The breaker's own bounds narrow those of connectionLimits.
    linked.max_connections =
        std::min(linked.max_connections, number_or(backend.circuit_breaker->max_connections, linked.max_connections));
    linked.max_pending_requests =
        std::min(linked.max_pending_requests,
                 number_or(backend.circuit_breaker->max_pending_requests, linked.max_pending_requests));
  }
  linked.max_requests_per_connection =
      number_or(backend.max_requests_per_connection, kDefaults.max_requests_per_connection);
  linked.max_idle_connections = number_or(backend.max_idle_connections_per_host,
                                          number_or(backend.max_idle_connections, kDefaults.max_idle_connections));
  linked.connect_timeout = duration_or(backend.connect_timeout, kDefaults.connect_timeout);
  linked.request_timeout = duration_or(backend.request_timeout, {});
  linked.idle_timeout = duration_or(backend.idle_timeout, kDefaults.upstream_idle_timeout);
  linked.backoff_base = kDefaults.backoff_base;
  linked.backoff_max = kDefaults.backoff_max;
  if (const auto& retry = backend.retry_policy) {
    linked.retry_on = retry_on_bits(retry->retry_on);
    linked.max_retries = number_or(retry->num_retries, kDefaults.retries);
    linked.per_try_timeout = duration_or(retry->per_try_timeout, {});
    linked.backoff_base = duration_or(retry->base_interval, kDefaults.backoff_base);
    linked.backoff_max = std::max(duration_or(retry->max_interval, kDefaults.backoff_max), linked.backoff_base);
  }
  return linked;
}

void warn_unserved(const model::ProxyBackend& backend, Diagnostics& diagnostics) {
  const auto warn = [&](Span span, std::string field, std::string_view what) {
    not_served(backend.metadata, span, std::move(field), std::string(what) + " by this version", diagnostics);
  };
  if (backend.health_check) warn(backend.health_check->span, "spec.healthCheck", "active health checks are not made");
  if (backend.passive_health_check) {
    const auto& enabled = backend.passive_health_check->enabled;
    if (!enabled || enabled->value) {
      warn(backend.passive_health_check->span, "spec.passiveHealthCheck", "endpoints are not ejected");
    }
  }
  if (backend.circuit_breaker) {
    warn(backend.circuit_breaker->span, "spec.circuitBreaker", "circuits are not opened");
  }
  if (backend.retry_policy) warn(backend.retry_policy->span, "spec.retryPolicy", "requests are not tried again");
  if (backend.lb_policy && backend.lb_policy->value != "RoundRobin") {
    warn(backend.lb_policy->span, "spec.lbPolicy",
         "endpoints are chosen by RoundRobin, not by " + backend.lb_policy->value + ",");
  }
}

/// Services and their slices by name.
class Cluster {
 public:
  explicit Cluster(const model::ResourceSet& resources)
      : services(resources.services), service_names(index_of(resources.services)) {
    for (const model::EndpointSlice& slice : resources.slices) {
      slices_[slice.metadata.name_space + "/" + slice.service].push_back(&slice);
    }
  }

  const std::vector<const model::EndpointSlice*>& slices(const model::Metadata& service) const {
    static const std::vector<const model::EndpointSlice*> kNone;
    const auto found = slices_.find(service.name_space + "/" + service.name);
    return found == slices_.end() ? kNone : found->second;
  }

  const std::vector<model::Service>& services;
  const NameIndex service_names;

 private:
  std::unordered_map<std::string, std::vector<const model::EndpointSlice*>> slices_;
};

const model::ServicePort* find_port(const model::Service& service, const model::PortRef& wanted) {
  for (const model::ServicePort& port : service.ports) {
    if (wanted.number != 0 ? port.port == wanted.number : port.name == wanted.name) return &port;
  }
  return nullptr;
}

void unknown_port(const model::ProxyBackend& backend, const model::Service& service, Diagnostics& diagnostics) {
  const model::PortRef& wanted = backend.service_port.value;
  std::string ports;
  for (const model::ServicePort& port : service.ports) {
    if (!ports.empty()) ports += ", ";
    ports += std::to_string(port.port);
    if (!port.name.empty()) ports += " (`" + port.name + "`)";
  }
  diagnostics.add({.code = DiagnosticCode::kUnknownReference,
                   .resource = backend.metadata.text(),
                   .field = "spec.serviceRef.port",
                   .span = backend.service_port.span,
                   .message = service.metadata.text() + " has no TCP port " +
                              (wanted.number != 0 ? std::to_string(wanted.number) : "`" + wanted.name + "`"),
                   .labels = {{service.metadata.span, "the service"}},
                   .fix = ports.empty() ? "" : "its ports are " + ports});
}

/// The port of a slice that serves a port of its service: by name, as Kubernetes has it. Slices written by hand often
/// name none; one unnamed port then stands for a service's only one.
std::uint16_t slice_port(const model::EndpointSlice& slice, const model::ServicePort& port, bool only_port) {
  for (const model::EndpointPort& candidate : slice.ports) {
    if (candidate.name == port.name) return candidate.port;
  }
  if (slice.ports.size() != 1) return 0;
  const bool unnamed = slice.ports[0].name.empty();
  if (only_port && (unnamed || port.name.empty())) return slice.ports[0].port;
  return unnamed && port.target.number == slice.ports[0].port ? slice.ports[0].port : 0;
}

std::vector<program::Endpoint> endpoints_of(const Cluster& cluster, const model::Service& service,
                                            const model::ServicePort& port) {
  std::vector<program::Endpoint> endpoints;
  for (const model::EndpointSlice* slice : cluster.slices(service.metadata)) {
    const std::uint16_t number = slice_port(*slice, port, service.ports.size() == 1);
    if (number == 0) continue;
    for (const model::EndpointAddress& address : slice->addresses) {
      endpoints.push_back({.address = address.address, .port = number, .ready = address.ready});
    }
  }
  // Of doubles the ready one stays: slices overlap while they are rewritten.
  std::sort(endpoints.begin(), endpoints.end(), [](const program::Endpoint& a, const program::Endpoint& b) {
    return std::tuple(a.address, a.port, !a.ready) < std::tuple(b.address, b.port, !b.ready);
  });
  const auto same = [](const program::Endpoint& a, const program::Endpoint& b) {
    return a.address == b.address && a.port == b.port;
  };
  endpoints.erase(std::unique(endpoints.begin(), endpoints.end(), same), endpoints.end());
  return endpoints;
}

}  // namespace

std::vector<std::optional<std::uint32_t>> link_backends(const std::vector<model::ProxyBackend>& backends,
                                                        const model::ResourceSet& resources, const Scope& scope,
                                                        LinkedConfig& config) {
  Diagnostics& diagnostics = scope.diagnostics;
  const Cluster cluster(resources);
  const Resolver services("Service", cluster.service_names, scope);
  std::vector<std::optional<std::uint32_t>> index(backends.size());
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const model::ProxyBackend& backend = backends[i];
    warn_unserved(backend, diagnostics);
    const auto position =
        services.resolve(backend.metadata, backend.service, [] { return std::string("spec.serviceRef.name"); });
    if (!position) continue;
    const model::Service& service = cluster.services[*position];
    const model::ServicePort* port = find_port(service, backend.service_port.value);
    if (port == nullptr) {
      unknown_port(backend, service, diagnostics);
      continue;
    }
    index[i] = static_cast<std::uint32_t>(config.backends.size());
    config.backends.push_back(make_backend(backend));
    program::BackendEndpoints endpoints{
        .backend_id = stable_id("ProxyBackend", backend.metadata.name_space, backend.metadata.name),
        .name_space = backend.metadata.name_space,
        .name = backend.metadata.name,
        .endpoints = endpoints_of(cluster, service, *port)};
    if (endpoints.endpoints.empty()) {
      diagnostics.add(
          {.code = DiagnosticCode::kNoEndpoints,
           .severity = Severity::kWarning,
           .resource = backend.metadata.text(),
           .field = "spec.serviceRef",
           .span = backend.service.name.span,
           .message = service.metadata.text() + " has no endpoints for this port; requests are answered 503",
           .labels = {{service.metadata.span, "the service"}},
           .fix = "add an EndpointSlice with the label `kubernetes.io/service-name: " + service.metadata.name + "`"});
    }
    config.endpoints.backends.push_back(std::move(endpoints));
  }
  std::sort(config.endpoints.backends.begin(), config.endpoints.backends.end(),
            [](const auto& a, const auto& b) { return a.backend_id < b.backend_id; });
  return index;
}

}  // namespace edge::compiler::link
