#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/text/ascii.h"
#include "compiler/model/decode_kinds.h"
#include "compiler/model/formats.h"
#include "compiler/model/forms.h"
#include "program/values/endpoints.h"

namespace edge::compiler::model {
namespace {

std::optional<HealthCheck> decode_health(const Fields& fields, Report& report) {
  if (!fields) return std::nullopt;
  const Fields http = fields.object("httpHealthCheck");
  HealthCheck check{.span = fields.span(),
                    .protocol = fields.text("protocol"),
                    .interval = fields.duration("interval"),
                    .timeout = fields.duration("timeout"),
                    .healthy_threshold = fields.integer("healthyThreshold"),
                    .unhealthy_threshold = fields.integer("unhealthyThreshold"),
                    .initial_delay = fields.duration("initialDelay"),
                    .path = either(http.text("path"), "spec.healthCheck.httpHealthCheck.path", fields.text("httpPath"),
                                   "spec.healthCheck.httpPath", report),
                    .host = http.text("host"),
                    .expected_statuses = http.integers("expectedStatuses"),
                    .headers = name_values(http, "headers"),
                    .grpc_service = fields.object("grpcHealthCheck").text("serviceName")};
  return check;
}

std::optional<PassiveHealthCheck> decode_passive(const Fields& fields) {
  if (!fields) return std::nullopt;
  return PassiveHealthCheck{.span = fields.span(),
                            .enabled = fields.boolean("enabled"),
                            .consecutive_errors = fields.integer("consecutiveErrors"),
                            .interval = fields.duration("interval"),
                            .base_ejection_time = fields.duration("baseEjectionTime"),
                            .max_ejection_percent = fields.integer("maxEjectionPercent"),
                            .consecutive_gateway_errors = fields.integer("consecutiveGatewayErrors")};
}

std::optional<CircuitBreaker> decode_breaker(const Fields& fields, Report& report) {
  if (!fields) return std::nullopt;
  return CircuitBreaker{.span = fields.span(),
                        .consecutive_errors = either(
                            fields.integer("consecutiveErrors"), "spec.circuitBreaker.consecutiveErrors",
                            fields.integer("consecutiveFailures"), "spec.circuitBreaker.consecutiveFailures", report),
                        .interval = fields.duration("interval"),
                        .base_ejection_time = fields.duration("baseEjectionTime"),
                        .max_ejection_percent = fields.integer("maxEjectionPercent"),
                        .split_errors = fields.boolean("splitExternalLocalOriginErrors"),
                        .max_connections = fields.integer("maxConnections"),
                        .max_pending_requests = fields.integer("maxPendingRequests")};
}

std::optional<RetryPolicy> decode_retry(const Fields& fields) {
  if (!fields) return std::nullopt;
  const Fields pause = fields.object("retryBackOff");
  const Fields budget = fields.object("retryBudget");
  return RetryPolicy{.span = fields.span(),
                     .retry_on = fields.strings("retryOn"),
                     .max_retries = fields.integer("numRetries"),
                     .per_try_timeout = fields.duration("perTryTimeout"),
                     .base_interval = pause.duration("baseInterval"),
                     .max_interval = pause.duration("maxInterval"),
                     .has_budget = static_cast<bool>(budget),
                     .budget_percent = budget.integer("percent"),
                     .min_concurrency = budget.integer("minRetryConcurrency")};
}

SubjectName decode_subject(const Fields& fields, std::size_t index, Report& report) {
  const std::string type = fields.needed_text("type").value;
  const std::string_view own = type == "URI" ? "uri" : "hostname";
  const std::string_view other = type == "URI" ? "hostname" : "uri";
  const auto field = [&](std::string_view name) {
    return "spec.tls.subjectAltNames[" + std::to_string(index) + "]." + std::string(name);
  };
  const auto name = fields.text(own);
  if (!name) {
    report.fault(DiagnosticCode::kMissingField, fields.span(), field(own),
                 "the field `" + std::string(own) + "` is required with type " + type);
  }
  if (const yaml::Node wrong = fields.node(other)) {
    report.fault(DiagnosticCode::kExclusiveFields, wrong.key_span(), field(other),
                 "`" + std::string(other) + "` does not go with type " + type);
  }
  return {.uri = type == "URI", .name = name ? *name : Located<std::string>{}};
}

std::optional<BackendTls> decode_tls(const Fields& fields, Report& report) {
  if (!fields) return std::nullopt;
  BackendTls tls{.server_name = fields.needed_text("hostname")};
  fields.entries("caCertificateRefs", [&](const Fields& entry) { tls.authorities.push_back(entry.reference()); });
  // Whom to trust when nobody is named: those whom the node trusts, and never everybody.
  tls.system_roots = fields.text("wellKnownCACertificates").has_value() || tls.authorities.empty();
  fields.entries("subjectAltNames", [&](const Fields& entry) {
    tls.alternative_names.push_back(decode_subject(entry, tls.alternative_names.size(), report));
  });
  if (const Fields own = fields.object("clientCertificateRef")) tls.client_certificate = own.reference();
  return tls;
}

/// An address or a name, without the brackets of an address of IPv6.
void set_host(StaticEndpoint& endpoint, std::string_view host) {
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  endpoint.address = parse_ip(host);
  if (!endpoint.address) endpoint.host = ascii_lower(host);
}

/// The text has the format of an endpoint's address.
StaticEndpoint static_endpoint(const Located<std::string>& text) {
  StaticEndpoint endpoint{.span = text.span};
  const std::size_t colon = text.value.rfind(':');
  set_host(endpoint, std::string_view(text.value).substr(0, colon));
  if (colon == std::string::npos) return endpoint;
  std::from_chars(text.value.data() + colon + 1, text.value.data() + text.value.size(), endpoint.port);
  return endpoint;
}

void decode_list(const Fields& spec, ProxyBackend& backend, Report& report) {
  const yaml::Node list = spec.node("endpoints");
  const bool sound = report.ok();
  bool any = false;
  spec.entries("endpoints", [&](const Fields& entry) {
    any = true;
    const Located<std::string> address = entry.needed_text("address");
    const auto weight = entry.integer("weight");
    const auto zone = entry.text("zone");
    if (address.value.empty() || !has_format(address.value, schemas::Format::kEndpointAddress)) return;
    StaticEndpoint endpoint = static_endpoint(address);
    if (weight) endpoint.weight = static_cast<std::uint16_t>(weight->value);
    if (zone && has_format(zone->value, schemas::Format::kLabelValue)) endpoint.zone = zone->value;
    backend.endpoints.push_back(std::move(endpoint));
  });
  if (sound && !any) {
    report.fault(DiagnosticCode::kMissingField, list.span(), "spec.endpoints", "`endpoints` must have an entry");
  }
}

/// `https://api.example.org:8443`: an endpoint, TLS for the name, and the host that requests name.
void decode_url(const Located<std::string>& url, ProxyBackend& backend, Report& report) {
  const auto fault = [&](const std::string& message, const std::string& fix) {
    report.fault(DiagnosticCode::kInvalidValue, url.span, "spec.url", message, fix);
  };
  const bool secure = url.value.starts_with("https://");
  std::string_view authority = std::string_view(url.value).substr(url.value.find("//") + 2);
  const std::size_t end = std::min(authority.find_first_of("/?#"), authority.size());
  if (const std::string_view target = authority.substr(end); !target.empty() && target != "/") {
    return fault("the URL of a backend has no path, query or fragment",
                 "leave `" + std::string(target.substr(0, 60)) + "` out; a rule's filter URLRewrite changes paths");
  }
  authority = authority.substr(0, end);
  const std::uint16_t usual = secure ? 443 : 80;
  const std::size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  const std::string address = has_port && colon + 1 < authority.size()
                                  ? std::string(authority)
                                  : std::string(authority.substr(0, colon)) + ":" + std::to_string(usual);
  if (!has_format(address, schemas::Format::kEndpointAddress)) {
    return fault(in_quotes(url.value) + " names no host that can be called", "write it as `https://api.example.org`");
  }
  StaticEndpoint endpoint = static_endpoint({address, url.span});
  std::string host = ascii_lower(std::string_view(address).substr(0, address.rfind(':')));
  if (host.ends_with('.')) host.pop_back();
  if (secure && !backend.tls) {
    if (endpoint.address) {
      return fault("the certificate of an address would be for a name, which the URL does not say",
                   "write `spec.tls.hostname`, the name that the certificate is for");
    }
    backend.tls = BackendTls{.server_name = {host, url.span}, .system_roots = true};
  }
  if (!secure && backend.tls) {
    report.fault(DiagnosticCode::kExclusiveFields, url.span, "spec.url",
                 "`tls` and a URL of scheme http exclude each other", "write `https://`");
  }
  backend.host = endpoint.port == usual ? host : host + ":" + std::to_string(endpoint.port);
  backend.endpoints.push_back(std::move(endpoint));
}

void decode_clusters(const Fields& spec, ProxyBackend& backend, Report& report) {
  std::size_t index = 0;
  spec.entries("clusterRefs", [&](const Fields& entry) {
    const std::string field = "spec.clusterRefs[" + std::to_string(index++) + "].";
    ClusterRef ref{.span = entry.span(),
                   .cluster = entry.needed_text("cluster"),
                   .name = entry.needed_text("name"),
                   .port = {entry.port("port"), entry.span()},
                   .priority = entry.integer("priority"),
                   .weight = entry.integer("weight"),
                   .region = entry.text("region")};
    if (const auto space = entry.text("namespace")) ref.name_space = space->value;
    const bool any = ref.cluster.value == "*";
    if (!any && !program::is_cluster_name(ref.cluster.value)) {
      report.fault(DiagnosticCode::kInvalidValue, ref.cluster.span, field + "cluster",
                   "the name of a cluster has lower-case letters, digits and `-`, at most 63",
                   "write the name that `edgectl cluster list` shows at the hub, `hub`, or `*`");
    }
    for (const Located<std::string>& text : entry.strings("gateways")) {
      if (!has_format(text.value, schemas::Format::kEndpointAddress)) continue;
      StaticEndpoint gateway = static_endpoint(text);
      if (any || !gateway.address || gateway.port == 0) {
        report.fault(DiagnosticCode::kInvalidValue, text.span, field + "gateways",
                     any ? "`gateways` are of one cluster, and `*` is every one"
                         : "the address of a gateway is an IP address with a port",
                     any ? "name the cluster" : "write it as `198.51.100.7:15443`");
        continue;
      }
      ref.gateways.push_back(std::move(gateway));
    }
    const auto same = [&](const ClusterRef& other) { return other.cluster.value == ref.cluster.value; };
    if (std::ranges::any_of(backend.clusters, same)) {
      report.fault(DiagnosticCode::kInvalidValue, ref.cluster.span, field + "cluster",
                   "the cluster `" + ref.cluster.value + "` stands twice", "one service of each cluster can be named");
    }
    backend.clusters.push_back(std::move(ref));
  });
  const Fields failover = spec.object("failover");
  backend.healthy_percent = failover.integer("healthyPercent");
  backend.max_requests_per_endpoint = failover.integer("maxRequestsPerEndpoint");
  if (failover && backend.clusters.empty()) {
    report.fault(DiagnosticCode::kMissingField, failover.span(), "spec.clusterRefs",
                 "`failover` says when requests go to other clusters, and there are none in `clusterRefs`",
                 "add `clusterRefs`, or leave `failover` out");
  }
  if (backend.clusters.empty()) return;
  if (backend.protocol && backend.protocol->value == "UDP") {
    report.fault(DiagnosticCode::kExclusiveFields, backend.protocol->span, "spec.protocol",
                 "`clusterRefs` and protocol UDP exclude each other: other clusters are called over HTTP/2",
                 "leave `clusterRefs` out");
  }
  if (backend.proxy_protocol) {
    report.fault(DiagnosticCode::kExclusiveFields, backend.proxy_protocol->span, "spec.proxyProtocol.version",
                 "`proxyProtocol` names one client, and a connection to another cluster carries many",
                 "leave it out: requests tell of their client by X-Forwarded-For");
  }
}

/// Exactly one of the three says where the endpoints are.
void decode_endpoints(const Fields& spec, ProxyBackend& backend, Report& report) {
  const yaml::Node list = spec.node("endpoints");
  const yaml::Node service = spec.node("serviceRef");
  const auto url = spec.text("url");
  if (!list && !service && !url && !backend.clusters.empty()) return;
  if (!list && !service && !url) {
    // A `url` that is no text was told.
    if (spec.node("url")) return;
    report.fault(DiagnosticCode::kMissingField, spec ? spec.span() : backend.metadata.span, "spec.serviceRef",
                 "one of the fields `serviceRef`, `endpoints` and `url` is required",
                 "write `endpoints: [{address: \"127.0.0.1:8080\"}]` for servers, `url` for a site");
    return;
  }
  if (url && (list || service)) {
    const std::string other = list ? "endpoints" : "serviceRef";
    report.fault(DiagnosticCode::kExclusiveFields, url->span, "spec.url",
                 "`url` and `" + other + "` exclude each other", "leave one of them out");
    return;
  }
  if (list && service) {
    report.fault(DiagnosticCode::kExclusiveFields, list.key_span(), "spec.endpoints",
                 "`endpoints` and `serviceRef` exclude each other",
                 "leave `serviceRef` out: its endpoints come from EndpointSlices");
  }
  if (list) decode_list(spec, backend, report);
  if (url && has_format(url->value, schemas::Format::kUrl)) decode_url(*url, backend, report);
}

/// H2 is HTTP/2 over TLS and H2C without it; a backend that says otherwise by `tls` leaves open what is meant.
void check_protocol(const ProxyBackend& backend, Report& report) {
  if (!backend.protocol) return;
  const std::string& protocol = backend.protocol->value;
  if (protocol == "H2" && !backend.tls) {
    report.fault(DiagnosticCode::kMissingField, backend.protocol->span, "spec.tls",
                 "the field `tls` is required with protocol H2; without TLS it is H2C");
  }
  if (protocol == "H2C" && backend.tls) {
    report.fault(DiagnosticCode::kExclusiveFields, backend.protocol->span, "spec.protocol",
                 "`tls` and protocol H2C exclude each other; over TLS it is H2");
  }
  if (protocol == "UDP" && backend.tls) {
    report.fault(DiagnosticCode::kExclusiveFields, backend.protocol->span, "spec.protocol",
                 "`tls` and protocol UDP exclude each other: datagrams are forwarded as they came");
  }
  if (protocol == "UDP" && backend.proxy_protocol && backend.proxy_protocol->value == "V1") {
    report.fault(DiagnosticCode::kExclusiveFields, backend.proxy_protocol->span, "spec.proxyProtocol.version",
                 "version 1 of the PROXY protocol has no word for UDP", "set the version to V2");
  }
}

}  // namespace

ProxyBackend decode_backend(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const Fields service = spec.object("serviceRef");
  const Fields timeout = spec.object("timeout");
  const Fields limits = spec.object("connectionLimits");
  const Fields pool = spec.object("connectionPool");
  ProxyBackend backend{.metadata = std::move(metadata),
                       .service = service ? service.reference() : Reference{},
                       .service_port = {service.port("port"), service ? service.span() : Span{}},
                       .protocol = spec.text("protocol"),
                       .lb_policy = spec.text("lbPolicy"),
                       .connect_timeout = either(spec.duration("connectTimeout"), "spec.connectTimeout",
                                                 timeout.duration("connect"), "spec.timeout.connect", report),
                       .request_timeout = timeout.duration("request"),
                       .idle_timeout = either(pool.duration("idleConnTimeout"), "spec.connectionPool.idleConnTimeout",
                                              timeout.duration("idle"), "spec.timeout.idle", report),
                       .health_check = decode_health(spec.object("healthCheck"), report),
                       .passive_health_check = decode_passive(spec.object("passiveHealthCheck")),
                       .circuit_breaker = decode_breaker(spec.object("circuitBreaker"), report),
                       .max_connections = limits.integer("maxConnections"),
                       .max_pending_requests = limits.integer("maxPendingRequests"),
                       .max_requests_per_connection = limits.integer("maxRequestsPerConnection"),
                       .max_concurrent_retries = limits.integer("maxRetries"),
                       .max_idle_connections = pool.integer("maxIdleConns"),
                       .max_idle_connections_per_host = pool.integer("maxIdleConnsPerHost"),
                       .retry_policy = decode_retry(spec.object("retryPolicy")),
                       .tls = decode_tls(spec.object("tls"), report),
                       .proxy_protocol = spec.object("proxyProtocol").text("version"),
                       .slow_start = spec.object("slowStart").duration("window"),
                       .trailers = spec.strings("trailers")};
  if (const yaml::Node port = service.node("port")) backend.service_port.span = port.span();
  decode_clusters(spec, backend, report);
  decode_endpoints(spec, backend, report);
  check_protocol(backend, report);
  return backend;
}

}  // namespace edge::compiler::model
