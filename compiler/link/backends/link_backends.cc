#include <algorithm>
#include <string>
#include <utility>

#include "compiler/link/field_values.h"
#include "compiler/link/stages.h"

namespace edge::compiler::link {
namespace {

const std::vector<model::ServicePort>& ports_of(const model::Service& service, bool udp) {
  return udp ? service.udp_ports : service.ports;
}

const model::ServicePort* find_port(const std::vector<model::ServicePort>& ports, const model::PortRef& wanted) {
  for (const model::ServicePort& port : ports) {
    if (wanted.number != 0 ? port.port == wanted.number : port.name == wanted.name) return &port;
  }
  return nullptr;
}

void unknown_port(const model::ProxyBackend& backend, const model::Service& service, bool udp,
                  Diagnostics& diagnostics) {
  const model::PortRef& wanted = backend.service_port.value;
  std::string ports;
  for (const model::ServicePort& port : ports_of(service, udp)) {
    if (!ports.empty()) ports += ", ";
    ports += std::to_string(port.port);
    if (!port.name.empty()) ports += " (`" + port.name + "`)";
  }
  diagnostics.add({.code = DiagnosticCode::kUnknownReference,
                   .resource = backend.metadata.text(),
                   .field = "spec.serviceRef.port",
                   .span = backend.service_port.span,
                   .message = service.metadata.text() + (udp ? " has no UDP port " : " has no TCP port ") +
                              (wanted.number != 0 ? std::to_string(wanted.number) : "`" + wanted.name + "`"),
                   .labels = {{service.metadata.span, "the service"}},
                   .fix = ports.empty() ? "" : "its ports are " + ports});
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

/// Of a backend of a Service that a BackendTLSPolicy is for: without TLS nothing is sent.
void tls_of_datagrams(const model::ProxyBackend& backend, Findings& findings) {
  const std::string message = "a policy asks for TLS, and datagrams are not encrypted";
  fail(findings.status.conditions, condition::kAccepted, reason::kInvalid, message);
  findings.diagnostics.add({.code = DiagnosticCode::kExclusiveFields,
                            .resource = backend.metadata.text(),
                            .field = "spec.tls",
                            .span = backend.tls->server_name.span,
                            .message = message,
                            .fix = "name the ports of TCP by `sectionName` in the BackendTLSPolicy"});
}

/// Gives `linked` the Service's endpoints, and what its port speaks. \returns whether there is such a port.
bool link_service(const model::ProxyBackend& backend, const BackendTargets& targets, LinkedBackend& linked,
                  Findings& findings) {
  const Resolved position = targets.service_names.resolve(
      backend.metadata, "Service", backend.service, [] { return std::string("spec.serviceRef.name"); }, findings);
  if (!position) {
    const bool refused = position.fault == ReferenceFault::kNotPermitted;
    fail(findings.status.conditions, condition::kResolvedRefs,
         refused ? reason::kRefNotPermitted : reason::kServiceNotFound,
         "the Service `" + backend.service.name.value + "` cannot be used");
    return false;
  }
  const model::Service& service = targets.services[position.position];
  const bool udp = linked.protocol == program::BackendProtocol::kUdp;
  const std::vector<model::ServicePort>& ports = ports_of(service, udp);
  const model::ServicePort* port = find_port(ports, backend.service_port.value);
  if (port == nullptr) {
    fail(findings.status.conditions, condition::kResolvedRefs, reason::kPortNotFound,
         service.metadata.text() + (udp ? " has no such UDP port" : " has no such TCP port"));
    unknown_port(backend, service, udp, findings.diagnostics);
    return false;
  }
  linked.source = {.name_space = service.metadata.name_space,
                   .name = service.metadata.name,
                   .port = port->name,
                   .target_port = port->target.number,
                   .only_port = ports.size() == 1,
                   .udp = udp,
                   .prefers_zone = service.prefers_zone,
                   .generation = backend.metadata.generation,
                   .reference = backend.service.name.span,
                   .service = service.metadata.span};
  if (!backend.protocol && speaks_http2(*port)) linked.protocol = program::BackendProtocol::kHttp2;
  if (!backend.protocol && port->protocol == "grpc") linked.takes_all_trailers = true;
  return true;
}

void take_endpoints(const model::ProxyBackend& backend, LinkedBackend& linked) {
  program::BackendEndpoints all;
  for (const model::StaticEndpoint& endpoint : backend.endpoints) {
    program::EndpointZones zones;
    if (!endpoint.zone.empty()) zones.push_back(endpoint.zone);
    if (endpoint.address) {
      all.endpoints.push_back(
          {.address = *endpoint.address, .port = endpoint.port, .weight = endpoint.weight, .zones = std::move(zones)});
    } else {
      all.names.push_back(
          {.host = endpoint.host, .port = endpoint.port, .weight = endpoint.weight, .zones = std::move(zones)});
    }
  }
  program::sort(all);
  linked.endpoints = std::move(all.endpoints);
  linked.names = std::move(all.names);
  linked.host = backend.host;
  // A check asks the site that requests are for, unless it names another.
  if (linked.health_check && linked.health_check->host.empty()) linked.health_check->host = linked.host;
}

std::string port_text(const model::PortRef& port) { return port.number != 0 ? std::to_string(port.number) : port.name; }

void take_clusters(const model::ProxyBackend& backend, LinkedBackend& linked) {
  const std::string space(program::kClusterSecretSpace);
  const std::string identity(program::kClusterSecretName);
  for (const model::ClusterRef& ref : backend.clusters) {
    const std::string& cluster = ref.cluster.value;
    LinkedCluster& made = linked.failover.clusters.emplace_back(LinkedCluster{
        .cluster = cluster,
        .service = program::exported_service_text(ref.name_space.empty() ? backend.metadata.name_space : ref.name_space,
                                                  ref.name.value, port_text(ref.port.value)),
        .region = value_or(ref.region, {}),
        .priority = static_cast<std::uint32_t>(value_or(ref.priority, std::int64_t{1})),
        .weight = static_cast<std::uint32_t>(value_or(ref.weight, std::int64_t{1}))});
    for (const model::StaticEndpoint& gateway : ref.gateways) {
      made.gateways.push_back({.address = *gateway.address, .port = gateway.port, .cluster = cluster});
    }
    made.tls = {.server_name = cluster == "*" ? "cluster" : cluster,
                .authorities = {{space, identity, std::string(program::kClusterAuthorityKey)}},
                .client_certificate = CertificateName{space, identity}};
    if (cluster != "*") made.tls.alternative_names.push_back({.uri = true, .name = program::cluster_uri(cluster)});
  }
  std::ranges::sort(linked.failover.clusters, {}, &LinkedCluster::cluster);
  linked.failover.healthy_percent =
      static_cast<std::uint32_t>(value_or(backend.healthy_percent, std::int64_t{program::kUsualHealthyPercent}));
  linked.failover.most_in_flight =
      static_cast<std::uint32_t>(value_or(backend.max_requests_per_endpoint, std::int64_t{0}));
}

}  // namespace

std::optional<LinkedBackend> link_backend(const model::ProxyBackend& backend, const BackendTargets& targets,
                                          Findings& findings) {
  LinkedBackend linked = backend_settings(backend);
  take_endpoints(backend, linked);
  take_clusters(backend, linked);
  linked.source.generation = backend.metadata.generation;
  const bool remote = backend.service.name.value.empty() && !linked.failover.clusters.empty();
  if (!linked.has_own_endpoints() && !remote && !link_service(backend, targets, linked, findings)) return std::nullopt;
  if (backend.tls && linked.protocol == program::BackendProtocol::kUdp) {
    tls_of_datagrams(backend, findings);
    return std::nullopt;
  }
  if (backend.tls) {
    linked.tls = link_backend_tls(backend, targets.secrets, findings);
    // Whom to trust, or as whom to come, cannot be told: routes answer 500.
    if (!linked.tls) return std::nullopt;
  }
  if (linked.protocol == program::BackendProtocol::kHttp2 && backend.proxy_protocol) {
    shared_header(backend, findings);
    return std::nullopt;
  }
  return linked;
}

}  // namespace edge::compiler::link
