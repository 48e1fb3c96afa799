#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

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

std::vector<program::Endpoint> endpoints_of(const ServiceTable& table, const model::Service& service,
                                            const model::ServicePort& port) {
  std::vector<program::Endpoint> endpoints;
  for (const model::EndpointSlice* slice : table.slices(service.metadata)) {
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

void no_endpoints(const model::ProxyBackend& backend, const model::Service& service, Findings& findings) {
  const std::string message = service.metadata.text() + " has no endpoints for this port; requests are answered 503";
  fail(findings.status.conditions, condition::kHealthy, reason::kNoEndpoints, message);
  findings.diagnostics.add(
      {.code = DiagnosticCode::kNoEndpoints,
       .severity = Severity::kWarning,
       .resource = backend.metadata.text(),
       .field = "spec.serviceRef",
       .span = backend.service.name.span,
       .message = message,
       .labels = {{service.metadata.span, "the service"}},
       .fix = "add an EndpointSlice with the label `kubernetes.io/service-name: " + service.metadata.name + "`"});
}

/// What a Service says of its port (KEP-3726, GEP-1911), and the short names that others use.
bool speaks_http2(const model::ServicePort& port) {
  return port.protocol == "kubernetes.io/h2c" || port.protocol == "h2c" || port.protocol == "http2" ||
         port.protocol == "grpc";
}

/// A connection of HTTP/2 carries the requests of many clients, and its PROXY header would name one for all of them.
void shared_header(const model::ProxyBackend& backend, Findings& findings) {
  const std::string message = "`proxyProtocol` names one client, and a connection of HTTP/2 carries many";
  fail(findings.status.conditions, condition::kAccepted, reason::kInvalid, message);
  findings.diagnostics.add(
      {.code = DiagnosticCode::kExclusiveFields,
       .resource = backend.metadata.text(),
       .field = "spec.proxyProtocol.version",
       .span = backend.proxy_protocol->span,
       .message = message,
       .fix = "requests tell of their client by X-Forwarded-For; for the header, speak HTTP/1.1 with the backend"});
}

}  // namespace

ServiceTable::ServiceTable(const std::vector<model::Service>& services, const std::vector<model::EndpointSlice>& slices)
    : services_(&services) {
  for (const model::EndpointSlice& slice : slices) {
    slices_[slice.metadata.name_space + "/" + slice.service].push_back(&slice);
  }
}

const std::vector<const model::EndpointSlice*>& ServiceTable::slices(const model::Metadata& service) const {
  static const std::vector<const model::EndpointSlice*> none;
  const auto found = slices_.find(service.name_space + "/" + service.name);
  return found == slices_.end() ? none : found->second;
}

std::optional<BackendLink> link_backend(const model::ProxyBackend& backend, const BackendTargets& targets,
                                        Findings& findings) {
  const Resolved position = targets.services.resolve(
      backend.metadata, "Service", backend.service, [] { return std::string("spec.serviceRef.name"); }, findings);
  if (!position) {
    const bool refused = position.fault == ReferenceFault::kNotPermitted;
    fail(findings.status.conditions, condition::kResolvedRefs,
         refused ? reason::kRefNotPermitted : reason::kServiceNotFound,
         "the Service `" + backend.service.name.value + "` cannot be used");
    return std::nullopt;
  }
  const model::Service& service = targets.table.service(position.position);
  const model::ServicePort* port = find_port(service, backend.service_port.value);
  if (port == nullptr) {
    fail(findings.status.conditions, condition::kResolvedRefs, reason::kPortNotFound,
         service.metadata.text() + " has no such TCP port");
    unknown_port(backend, service, findings.diagnostics);
    return std::nullopt;
  }
  std::optional<BackendTlsSettings> tls;
  if (backend.tls) {
    tls = link_backend_tls(backend, targets.secrets, findings);
    // Whom to trust, or as whom to come, cannot be told: routes answer 500.
    if (!tls) return std::nullopt;
  }
  findings.depends_on("EndpointSlice", service.metadata.name_space, service.metadata.name);
  const model::Metadata& metadata = backend.metadata;
  BackendLink link{.backend = backend_settings(backend),
                   .endpoints = {.backend_id = stable_id("ProxyBackend", metadata.name_space, metadata.name),
                                 .name_space = metadata.name_space,
                                 .name = metadata.name,
                                 .endpoints = endpoints_of(targets.table, service, *port)}};
  if (!backend.protocol && speaks_http2(*port)) link.backend.protocol = program::BackendProtocol::kHttp2;
  if (link.backend.protocol == program::BackendProtocol::kHttp2 && backend.proxy_protocol) {
    shared_header(backend, findings);
    return std::nullopt;
  }
  if (!backend.protocol && port->protocol == "grpc") link.backend.takes_all_trailers = true;
  link.backend.tls = std::move(tls);
  if (link.endpoints.endpoints.empty()) no_endpoints(backend, service, findings);
  return link;
}

}  // namespace edge::compiler::link
