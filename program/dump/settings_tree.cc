#include "program/dump/settings_tree.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "program/dump/settings_block.h"
#include "program/format/records.h"

namespace edge::program {
namespace {

std::string qualified(const SectionView& section, StringRef name_space, StringRef name) {
  return std::string(section.string(name_space)) + "/" + std::string(section.string(name));
}

template <typename Item>
void sort_by_name(std::vector<Item>& items) {
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.name < b.name; });
}

// ---- Gateways and listeners -----------------------------------------------------------------------------------------

/// Empty for what is so without it.
const char* compressed_for(CompressedFor requests) {
  static constexpr std::array<const char*, 3> kNames = {"", "SameOrigin", "Never"};
  return kNames[static_cast<std::size_t>(requests)];
}

std::vector<TreeSettings> settings_of(const SectionView& section, const GatewayRecord& gateway) {
  std::vector<TreeSettings> settings;
  if (const auto* compression = optional_of(section, gateway.compression)) {
    std::vector<std::string> algorithms;
    for (const ContentCoding coding : section.array(compression->algorithms))
      algorithms.emplace_back(coding == ContentCoding::kGzip ? "gzip" : "br");
    settings.push_back(Block(section, "compression")
                           .number("minSize", compression->min_size)
                           .number("level", compression->level)
                           .list("algorithms", std::move(algorithms))
                           .texts("excludeTypes", compression->exclude_types)
                           .texts("includeTypes", compression->include_types)
                           .word("credentials", compressed_for(compression->compressed_for))
                           .take());
  }
  if (const auto* cache = optional_of(section, gateway.cache)) {
    settings.push_back(Block(section, "cache")
                           .number("maxSize", cache->max_size)
                           .number("maxEntrySize", cache->max_entry_size)
                           .duration("defaultTTL", cache->default_ttl_ns)
                           .duration("maxTTL", cache->max_ttl_ns)
                           .take());
  }
  if (gateway.path_flags != 0) {
    Block paths(section, "paths");
    paths.word("mergeSlashes", (gateway.path_flags & kMergeSlashes) != 0 ? "true" : "false");
    paths.word("escapedSlashes", (gateway.path_flags & kRejectEscapedSlashes) != 0 ? "Reject"
                                 : (gateway.path_flags & kUnescapeSlashes) != 0    ? "Unescape"
                                                                                   : "Keep");
    paths.word("pathParameters", (gateway.path_flags & kRejectPathParameters) != 0 ? "Reject" : "Keep");
    settings.push_back(paths.take());
  }
  if ((gateway.flags & kHidesReasons) != 0) {
    settings.push_back(Block(section, "answers").word("reasonHeader", "Disabled").take());
  }
  if (const auto* tracing = optional_of(section, gateway.tracing)) {
    Block block(section, "tracing");
    block.number("samplingRate", tracing->sampling_percent);
    if (tracing->believed != TraceSenders::kTrustedProxies) {
      block.word("trustIncoming", tracing->believed == TraceSenders::kAlways ? "Always" : "Never");
    }
    settings.push_back(block.take());
  }
  if (const auto* log = optional_of(section, gateway.access_log)) {
    settings.push_back(
        Block(section, "accessLog").text("format", log->format).texts("excludePaths", log->exclude_paths).take());
  }
  if (const auto* limits = optional_of(section, gateway.limits)) {
    settings.push_back(Block(section, "limits")
                           .number("minRequestBodyRate", limits->min_body_rate)
                           .duration("requestBodyGracePeriod", limits->body_grace_ns)
                           .number("maxConnectionsPerSource", limits->max_connections_per_source)
                           .number("maxStreamsPerSource", limits->max_streams_per_source)
                           .take());
  }
  return settings;
}

// ---- Backends -------------------------------------------------------------------------------------------------------

const char* balance_name(Balance balance) {
  static constexpr std::array<const char*, 8> kNames = {"",     "RoundRobin", "LeastConn", "P2C",
                                                        "EWMA", "RingHash",   "Maglev",    "Random"};
  return kNames[static_cast<std::size_t>(balance)];
}

const char* probe_name(ProbeProtocol protocol) {
  static constexpr std::array<const char*, 4> kNames = {"", "HTTP", "TCP", "GRPC"};
  return kNames[static_cast<std::size_t>(protocol)];
}

TreeSettings limits_of(const SectionView& section, const BackendRecord& backend) {
  Block block(section, "limits");
  block.word("loadBalancing", balance_name(backend.balance))
      .number("maxConnections", backend.max_connections)
      .number("maxPendingRequests", backend.max_pending_requests)
      .number("maxRequestsPerConnection", backend.max_requests_per_connection)
      .number("maxIdleConnections", backend.max_idle_connections)
      .number("maxConcurrentRetries", backend.max_concurrent_retries)
      .number("numRetries", backend.max_retries)
      .list("retryOn", retry_names(backend.retry_on))
      .duration("connectTimeout", backend.connect_timeout_ns)
      .duration("requestTimeout", backend.request_timeout_ns)
      .duration("idleTimeout", backend.idle_timeout_ns)
      .duration("perTryTimeout", backend.per_try_timeout_ns)
      .duration("backoffBase", backend.backoff_base_ns)
      .duration("backoffMax", backend.backoff_max_ns);
  // Those of a backend that says nothing of them are left out.
  constexpr std::uint32_t kUsualBudget = 20;
  constexpr std::uint32_t kUsualLeast = 3;
  if (backend.retry_budget_percent != kUsualBudget) block.number("retryBudgetPercent", backend.retry_budget_percent);
  if (backend.min_concurrent_retries != kUsualLeast)
    block.number("minConcurrentRetries", backend.min_concurrent_retries);
  if (backend.max_idle_total != kNone) block.number("maxIdleConnectionsInAll", backend.max_idle_total);
  if (backend.protocol == BackendProtocol::kHttp2) block.word("protocol", "HTTP/2");
  if (backend.protocol == BackendProtocol::kUdp) block.word("protocol", "UDP");
  if (backend.proxy_protocol != ProxyProtocol::kNone)
    block.word("proxyProtocol", backend.proxy_protocol == ProxyProtocol::kV1 ? "V1" : "V2");
  if ((backend.flags & kTakesTrailers) != 0) block.word("trailers", "all");
  if (backend.trailers.count != 0) block.texts("trailers", backend.trailers);
  if (backend.slow_start_ns != 0) block.duration("slowStart", backend.slow_start_ns);
  return block.take();
}

TreeSettings health_of(const SectionView& section, const HealthCheckRecord& check) {
  std::vector<std::string> statuses;
  for (const std::uint32_t status : section.array(check.expected_status)) statuses.push_back(std::to_string(status));
  std::vector<std::string> headers;
  for (const HeaderRecord& header : section.array(check.headers))
    headers.push_back(std::string(section.string(header.name)) + ": " + std::string(section.string(header.value)));
  return Block(section, "healthCheck")
      .word("protocol", probe_name(check.protocol))
      .duration("interval", check.interval_ns)
      .duration("timeout", check.timeout_ns)
      .duration("initialDelay", check.initial_delay_ns)
      .number("healthyThreshold", check.healthy_threshold)
      .number("unhealthyThreshold", check.unhealthy_threshold)
      .text("path", check.path)
      .text("host", check.host)
      .list("expectedStatuses", std::move(statuses))
      .list("headers", std::move(headers))
      .text("grpcService", check.grpc_service)
      .take();
}

std::vector<TreeSettings> settings_of(const SectionView& section, const BackendRecord& backend) {
  std::vector<TreeSettings> settings;
  if (const auto* check = optional_of(section, backend.health_check)) settings.push_back(health_of(section, *check));
  if (const auto* check = optional_of(section, backend.passive_check)) {
    settings.push_back(Block(section, "passiveHealthCheck")
                           .number("consecutiveErrors", check->consecutive_errors)
                           .number("consecutiveGatewayErrors", check->consecutive_gateway_errors)
                           .duration("interval", check->interval_ns)
                           .duration("baseEjectionTime", check->base_ejection_ns)
                           .number("maxEjectionPercent", check->max_ejection_percent)
                           .take());
  }
  if (const auto* breaker = optional_of(section, backend.circuit_breaker)) {
    settings.push_back(Block(section, "circuitBreaker")
                           .number("consecutiveErrors", breaker->consecutive_errors)
                           .duration("interval", breaker->interval_ns)
                           .duration("openTime", breaker->open_ns)
                           .number("maxEjectionPercent", breaker->max_ejection_percent)
                           .flag("splitLocalErrors", breaker->split_local_errors != 0)
                           .take());
  }
  if (const auto* tls = optional_of(section, backend.tls)) {
    Block block(section, "tls");
    block.text("serverName", tls->server_name)
        .flag("systemAuthorities", (tls->flags & kSystemAuthorities) != 0)
        .secrets("authorities", tls->authorities)
        .flag("refused", (tls->flags & kRefuseConnections) != 0);
    std::vector<std::string> names;
    for (const SubjectNameRecord& subject : section.array(tls->alternative_names))
      names.emplace_back(section.string(subject.name));
    if (!names.empty()) block.list("subjectAltNames", std::move(names));
    if (tls->client_certificate.count != 0) block.secrets("clientCertificate", tls->client_certificate);
    settings.push_back(block.take());
  }
  for (const ClusterRefRecord& cluster : clusters_of(section, backend.id)) {
    Block block(section, "cluster");
    block.text("name", cluster.cluster)
        .text("service", cluster.service)
        .number("priority", cluster.priority)
        .number("weight", cluster.weight)
        .text("region", cluster.region)
        .number("healthyPercent", cluster.healthy_percent);
    if (cluster.most_in_flight != 0) block.number("maxRequestsPerEndpoint", cluster.most_in_flight);
    settings.push_back(block.take());
  }
  return settings;
}

}  // namespace

std::vector<TreeSettings> settings_of(const SectionView& section, const ListenerRecord& listener) {
  std::vector<TreeSettings> settings;
  if (const auto* redirect = optional_of(section, listener.scheme_redirect)) {
    settings.push_back(Block(section, "redirectScheme")
                           .text("scheme", redirect->scheme)
                           .number("port", redirect->port)
                           .number("statusCode", redirect->status)
                           .texts("exclusions", redirect->exclusions)
                           .take());
  }
  if (const auto* tls = optional_of(section, listener.tls)) {
    settings.push_back(Block(section, "tls")
                           .word("mode", tls->mode == TlsMode::kTerminate ? "Terminate" : "Passthrough")
                           .word("minVersion", tls->min_version == TlsVersion::k12 ? "TLS1.2" : "TLS1.3")
                           .secrets("certificates", tls->certificates)
                           .flag("needsClientCertificate", tls->client_certificate == kNeedsClientCertificate)
                           .flag("optionalClientCertificate", tls->client_certificate == kOptionalClientCertificate)
                           .flag("unverifiedClientCertificate", tls->client_certificate == kUnverifiedClientCertificate)
                           .flag("requiresCRL", tls->needs_crl != 0)
                           .secrets("clientAuthorities", tls->client_authorities)
                           .take());
  }
  if ((listener.flags & kAcceptsProxyProtocol) != 0) {
    settings.push_back(Block(section, "proxyProtocol").word("from", "trusted proxies").take());
  }
  return settings;
}

std::vector<TreeGateway> gateways_of(const ProgramView& program) {
  const SectionView& section = program.listeners().view;
  std::vector<TreeGateway> gateways;
  for (const GatewayRecord& gateway : section.array(section.header<ListenersHeader>().gateways))
    gateways.push_back({qualified(section, gateway.name_space, gateway.name), settings_of(section, gateway)});
  sort_by_name(gateways);
  return gateways;
}

std::vector<TreeBackendSettings> backends_of(const ProgramView& program) {
  const SectionView& section = program.backends().view;
  std::vector<TreeBackendSettings> backends;
  for (const BackendRecord& backend : section.array(section.header<BackendsHeader>().backends)) {
    backends.push_back({qualified(section, backend.name_space, backend.name), limits_of(section, backend),
                        settings_of(section, backend)});
  }
  sort_by_name(backends);
  return backends;
}

std::string secret_text(const SectionView& section, const SecretRecord& secret) {
  std::string text = qualified(section, secret.name_space, secret.name);
  if (secret.key.size > 0) text += " " + std::string(section.string(secret.key));
  return text;
}

std::string value_text(const TreeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  std::string text;
  for (const std::string& item : std::get<std::vector<std::string>>(value)) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::vector<std::string> retry_names(std::uint32_t retry_on) {
  static constexpr std::array<const char*, 10> kNames = {
      "5xx", "reset", "connect-failure", "retriable-4xx", "refused-stream", "429", "500", "502", "503", "504"};
  std::vector<std::string> names;
  for (std::size_t bit = 0; bit < kNames.size(); ++bit)
    if ((retry_on >> bit & 1) != 0) names.emplace_back(kNames[bit]);
  return names;
}

}  // namespace edge::program
