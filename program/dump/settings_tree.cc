#include "program/dump/settings_tree.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <tuple>

#include "base/units.h"
#include "program/dump/policy_type_text.h"
#include "program/format/records.h"

namespace edge::program {
namespace {

/// Builds one block of settings.
class Block {
 public:
  Block(const SectionView& section, std::string name) : section_(section) { settings_.name = std::move(name); }

  Block& text(const std::string& name, StringRef ref) { return word(name, section_.string(ref)); }
  Block& body(StringRef ref) { return word("body", body_text(section_.string(ref))); }
  Block& word(const std::string& name, std::string_view value) {
    if (!value.empty()) settings_.fields.emplace_back(name, std::string(value));
    return *this;
  }
  Block& number(const std::string& name, std::uint64_t value) {
    settings_.fields.emplace_back(name, value);
    return *this;
  }
  Block& duration(const std::string& name, std::uint64_t nanoseconds) {
    return word(name, duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds))));
  }
  Block& flag(const std::string& name, bool value) {
    if (value) settings_.fields.emplace_back(name, true);
    return *this;
  }
  Block& list(const std::string& name, std::vector<std::string> values) {
    if (!values.empty()) settings_.fields.emplace_back(name, std::move(values));
    return *this;
  }
  Block& texts(const std::string& name, ArrayRef<StringRef> refs) {
    std::vector<std::string> values;
    for (const StringRef& ref : section_.array(refs)) values.emplace_back(section_.string(ref));
    return list(name, std::move(values));
  }
  Block& cidrs(const std::string& name, ArrayRef<CidrRecord> records) {
    std::vector<std::string> values;
    for (const CidrRecord& record : section_.array(records)) values.push_back(to_string(cidr_of(record)));
    return list(name, std::move(values));
  }
  Block& secret(const std::string& name, const SecretRecord& record) {
    return word(name, secret_text(section_, record));
  }
  Block& secrets(const std::string& name, ArrayRef<SecretRecord> records) {
    std::vector<std::string> values;
    for (const SecretRecord& record : section_.array(records)) values.push_back(secret_text(section_, record));
    return list(name, std::move(values));
  }
  TreeSettings take() { return std::move(settings_); }

 private:
  const SectionView& section_;
  TreeSettings settings_;
};

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

// ---- Policies -------------------------------------------------------------------------------------------------------

std::string keys_text(const SectionView& section, ArrayRef<RateKeyRecord> keys) {
  std::string text;
  for (const RateKeyRecord& part : section.array(keys)) text += " " + rate_key_text(section, part);
  return text;
}

std::string rate_text(const SectionView& section, const RateRecord& limit) {
  const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(limit.period_ns));
  return std::to_string(limit.requests) + " per " + duration_text(period) + " burst " + std::to_string(limit.burst) +
         " by" + keys_text(section, limit.keys);
}

/// Writes the settings of a policy, by its type.
class PolicySettings {
 public:
  PolicySettings(const SectionView& section, const PolicyRecord& policy)
      : section_(section), header_(section.header<PoliciesHeader>()), index_(policy.settings) {}

  TreeSettings take(PolicyType type) const {
    switch (type) {
      case PolicyType::kUnknown:
        break;
      case PolicyType::kRateLimit:
        return of(at(header_.rate_limits));
      case PolicyType::kConcurrencyLimit:
        return of(at(header_.concurrency_limits));
      case PolicyType::kBasicAuth:
        return of(at(header_.basic_auths));
      case PolicyType::kApiKey:
        return of(at(header_.api_keys));
      case PolicyType::kJwt:
        return of(at(header_.jwts));
      case PolicyType::kOidc:
        return of(at(header_.oidcs));
      case PolicyType::kForwardAuth:
        return of(at(header_.forward_auths));
      case PolicyType::kCors:
        return of(at(header_.cors));
      case PolicyType::kSecurityHeaders:
        return of(at(header_.security_headers));
      case PolicyType::kIpAccess:
        return of(at(header_.ip_accesses));
      case PolicyType::kMaintenance:
        return of(at(header_.maintenances));
      case PolicyType::kFixedResponse:
        return of(at(header_.fixed_responses));
      case PolicyType::kErrorPages:
        return of(at(header_.error_pages));
    }
    return {};
  }

 private:
  template <typename T>
  const T& at(ArrayRef<T> records) const {
    return section_.array(records)[index_];
  }

  void add(const AddressSourcesRecord& from, const std::array<const char*, 5>& names, Block& to) const {
    std::vector<std::string> systems;
    for (const std::uint32_t number : section_.array(from.systems)) systems.push_back(std::to_string(number));
    to.cidrs(names[0], from.networks);
    if (from.lists.count != 0) to.secrets(names[1], from.lists);
    to.texts(names[2], from.files).texts(names[3], from.countries).list(names[4], std::move(systems));
  }
  TreeSettings of(const IpAccessRecord& record) const {
    Block block(section_, "ipAccess");
    add(record.allow, {"allow", "allowLists", "allowFiles", "allowCountries", "allowASNs"}, block);
    add(record.deny, {"deny", "denyLists", "denyFiles", "denyCountries", "denyASNs"}, block);
    return block.take();
  }
  TreeSettings of(const RateLimitRecord& record) const {
    std::vector<std::string> limits;
    for (const RateRecord& limit : section_.array(record.limits)) limits.push_back(rate_text(section_, limit));
    return Block(section_, "rateLimit")
        .list("limits", std::move(limits))
        .word("scope", record.shared != 0 ? "Cluster" : "")
        .take();
  }
  TreeSettings of(const ConcurrencyLimitRecord& record) const {
    std::vector<std::string> limits;
    for (const ConcurrencyRecord& limit : section_.array(record.limits)) {
      limits.push_back(std::to_string(limit.requests) + " by" + keys_text(section_, limit.keys));
    }
    return Block(section_, "concurrencyLimit")
        .list("limits", std::move(limits))
        .number("statusCode", record.status)
        .take();
  }
  TreeSettings of(const BasicAuthRecord& record) const {
    return Block(section_, "basicAuth")
        .text("realm", record.realm)
        .secret("users", record.users)
        .flag("stripAuth", record.strip_auth != 0)
        .take();
  }
  TreeSettings of(const JwtRecord& record) const {
    std::vector<std::string> claims;
    for (const ClaimHeaderRecord& each : section_.array(record.claim_headers)) {
      claims.push_back(std::string(section_.string(each.claim)) + " " + std::string(section_.string(each.header)));
    }
    Block block(section_, "jwt");
    std::size_t number = 0;
    for (const JwtIssuerRecord& issuer : section_.array(record.issuers)) {
      // The first one's are named as they were when there was one.
      const std::string suffix = number++ == 0 ? "" : std::to_string(number);
      block.text("issuer" + suffix, issuer.issuer)
          .texts("audience" + suffix, issuer.audience)
          .texts("algorithms" + suffix, issuer.algorithms);
      if (issuer.keys == JwtKeys::kUri) block.text("jwksUri" + suffix, issuer.source);
      if (issuer.keys == JwtKeys::kInline) block.text("jwks" + suffix, issuer.source);
      if (issuer.keys == JwtKeys::kSecret) block.secret("jwksSecret" + suffix, issuer.secret);
      if (issuer.keys == JwtKeys::kShared) block.secret("secret" + suffix, issuer.secret);
    }
    return block.text("header", record.header)
        .text("prefix", record.prefix)
        .duration("clockSkew", record.clock_skew_ns)
        .list("claimToHeaders", std::move(claims))
        .take();
  }
  TreeSettings of(const ApiKeyRecord& record) const {
    return Block(section_, "apiKey")
        .text("header", record.header)
        .text("cookie", record.cookie)
        .text("identityHeader", record.identity_header)
        .secrets("keys", record.keys)
        .flag("stripKey", record.strip_key != 0)
        .take();
  }
  TreeSettings of(const OidcRecord& record) const {
    return Block(section_, "oidc")
        .text("issuer", record.issuer)
        .text("clientId", record.client_id)
        .secret("clientSecret", record.client_secret)
        .secret("sessionSecret", record.session_secret)
        .text("redirectUrl", record.redirect_url)
        .texts("scopes", record.scopes)
        .texts("forwardHeaders", record.forward_headers)
        .texts("requiredRoles", record.required_roles)
        .texts("requiredGroups", record.required_groups)
        .flag("requireAll", record.require_all != 0)
        .take();
  }
  TreeSettings of(const ForwardAuthRecord& record) const {
    return Block(section_, "forwardAuth")
        .text("address", record.address)
        .texts("authHeaders", record.auth_headers)
        .texts("responseHeaders", record.response_headers)
        .duration("timeout", record.timeout_ns)
        .duration("cacheTTL", record.cache_ttl_ns)
        .text("signInURL", record.sign_in_url)
        .text("signInParameter", record.sign_in_parameter)
        .take();
  }
  TreeSettings of(const CorsRecord& record) const {
    return Block(section_, "cors")
        .texts("allowOrigins", record.allow_origins)
        .texts("allowMethods", record.allow_methods)
        .texts("allowHeaders", record.allow_headers)
        .texts("exposeHeaders", record.expose_headers)
        .duration("maxAge", record.max_age_ns)
        .flag("allowCredentials", record.allow_credentials != 0)
        .flag("credentialsForEveryone",
              record.allow_credentials == static_cast<std::uint32_t>(CorsCredentials::kEveryone))
        .take();
  }
  std::vector<std::string> lines_of(ArrayRef<FieldRecord> fields) const {
    std::vector<std::string> lines;
    for (const FieldRecord& field : section_.array(fields)) {
      lines.push_back(std::string(section_.string(field.name)) + ": " + std::string(section_.string(field.value)));
    }
    return lines;
  }
  TreeSettings of(const MaintenanceRecord& record) const {
    return Block(section_, "maintenance")
        .flag("enabled", record.enabled != 0)
        .number("retryAfter", record.retry_after_s)
        .text("contentType", record.page.content_type)
        .body(record.page.body)
        .cidrs("exceptAddresses", record.except_addresses)
        .list("exceptHeaders", lines_of(record.except_fields))
        .take();
  }
  TreeSettings of(const FixedResponseRecord& record) const {
    return Block(section_, "fixedResponse")
        .number("statusCode", record.status)
        .list("headers", lines_of(record.fields))
        .text("contentType", record.page.content_type)
        .body(record.page.body)
        .take();
  }
  TreeSettings of(const ErrorPagesRecord& record) const {
    std::vector<std::string> pages;
    for (const ErrorPageRecord& page : section_.array(record.pages)) {
      const std::string last = page.last == page.first ? "" : "-" + std::to_string(page.last);
      pages.push_back(std::to_string(page.first) + last + (page.backend_errors != 0 ? " of backends too " : " ") +
                      std::string(section_.string(page.page.content_type)) + " " +
                      body_text(section_.string(page.page.body)));
    }
    return Block(section_, "errorPages").list("pages", std::move(pages)).take();
  }
  TreeSettings of(const SecurityHeadersRecord& record) const {
    Block block(section_, "securityHeaders");
    if ((record.flags & kHsts) != 0) block.number("hstsMaxAge", record.hsts_max_age_s);
    return block.flag("hstsIncludeSubDomains", (record.flags & kHstsIncludeSubDomains) != 0)
        .flag("hstsPreload", (record.flags & kHstsPreload) != 0)
        .text("xFrameOptions", record.x_frame_options)
        .flag("contentTypeNosniff", (record.flags & kNoSniff) != 0)
        .text("referrerPolicy", record.referrer_policy)
        .take();
  }

  const SectionView& section_;
  const PoliciesHeader& header_;
  std::uint32_t index_;
};

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

std::vector<TreePolicy> policies_of(const ProgramView& program) {
  const SectionView& section = program.policies().view;
  std::vector<TreePolicy> policies;
  for (const PolicyRecord& policy : section.array(section.header<PoliciesHeader>().policies)) {
    TreePolicy& tree = policies.emplace_back();
    tree.name = qualified(section, policy.name_space, policy.name);
    tree.type = policy_type_text(policy.type);
    if (policy.settings != kNone) tree.settings = PolicySettings(section, policy).take(policy.type);
  }
  sort_by_name(policies);
  return policies;
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
