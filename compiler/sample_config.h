// Small configurations for tests of stages after linking, and programs from them without native code and databases.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "compiler/emit/tables.h"
#include "compiler/ir/lower.h"
#include "compiler/link/linked_config.h"
#include "compiler/opt/passes.h"
#include "program/write.h"

namespace edge::compiler::sample {

inline Located<std::string> at(std::string text) { return {std::move(text), {}}; }
inline HostPattern host(const std::string& text) { return text.empty() ? HostPattern() : *HostPattern::parse(text); }

inline RuleMatch path(PathMatch::Type type, std::string value) {
  RuleMatch match;
  match.path.type = type;
  match.path.value = at(std::move(value));
  return match;
}
inline RuleMatch exact(std::string value) { return path(PathMatch::Type::kExact, std::move(value)); }
inline RuleMatch prefix(std::string value) { return path(PathMatch::Type::kPrefix, std::move(value)); }
inline RuleMatch pattern(std::string value) { return path(PathMatch::Type::kRegex, std::move(value)); }
inline RuleMatch any() { return path(PathMatch::Type::kNone, {}); }
inline RuleMatch with_header(RuleMatch match, std::string name, std::string value, MatchType type = MatchType::kExact) {
  match.headers.push_back({at(std::move(name)), at(std::move(value)), type});
  return match;
}
inline RuleMatch with_query(RuleMatch match, std::string name, std::string value) {
  match.query.push_back({at(std::move(name)), at(std::move(value)), MatchType::kExact});
  return match;
}
inline RuleMatch with_method(RuleMatch match, std::string method) {
  match.method = at(std::move(method));
  return match;
}

/// One gateway on every address with one listener, to which routes and backends are added. Names are the identities.
struct Config : LinkedConfig {
  explicit Config(const std::vector<std::string>& listener_hosts = {}) {
    gateway("edge");
    listener(0, "http", 80, listener_hosts);
  }

  LinkedGateway& gateway(const std::string& name) {
    gateways.emplace_back().identity = {"ProxyGateway", "default", name, 0, {}};
    return gateways.back();
  }
  LinkedListener& listener(std::uint32_t gateway_index, std::string name, std::uint16_t port,
                           const std::vector<std::string>& hosts) {
    LinkedListener& added = listeners.emplace_back();
    added.gateway = gateway_index;
    added.name = std::move(name);
    added.port = port;
    for (const std::string& text : hosts) added.hostnames.push_back({host(text), {}});
    return added;
  }
  std::uint32_t backend(const std::string& name) {
    backends.emplace_back().identity = {"ProxyBackend", "shop", name, 0, {}};
    return static_cast<std::uint32_t>(backends.size() - 1);
  }
  LinkedRoute& route(const std::string& name, const std::vector<std::string>& hosts, std::vector<RuleMatch> matches) {
    LinkedRoute& added = routes.emplace_back();
    added.identity = {"ProxyRoute", "default", name, 0, {}};
    for (const std::string& text : hosts) added.hostnames.push_back({host(text), {}});
    added.rules.emplace_back().matches = std::move(matches);
    added.listeners = {0};
    return added;
  }
};

/// Returns the program of a configuration; each regex set is an empty section.
inline std::vector<std::byte> tables_only(const LinkedConfig& config) {
  Diagnostics diagnostics;
  ir::PreparedRoutes prepared;
  prepared.prepare(config, diagnostics);
  const ir::HostRoutes hosts = ir::collect_hosts(config);
  std::vector<program::SectionInput> sections;
  const auto add = [&sections](program::SectionKind kind, std::uint64_t id, std::vector<std::byte> bytes) {
    for (const auto& section : sections)
      if (section.kind == kind && section.id == id) return;
    sections.push_back({kind, id, program::make_blob(std::move(bytes))});
  };
  std::vector<const ir::HostRoutes::value_type*> in_order;
  for (const auto& host : hosts) in_order.push_back(&host);
  add(program::SectionKind::kListeners, 0, emit::emit_listeners(config, in_order));
  add(program::SectionKind::kBackends, 0, emit::emit_backends(config));
  add(program::SectionKind::kPolicies, 0, emit::emit_policies(config));
  for (const auto& [key, routes] : hosts) {
    ir::Host lowered = ir::lower_host(config, prepared, key, routes);
    opt::optimize(lowered);
    std::vector<std::byte> bytes = emit::emit_host(config, lowered, program::kNone);
    const program::SectionView view(bytes);
    for (const auto& set : view.array(view.header<program::HostHeader>().regex_sets))
      add(program::SectionKind::kRegex, set.section_id, {});
    add(program::SectionKind::kHost, lowered.id, std::move(bytes));
  }
  return program::assemble(program::Target::kTablesOnly, std::move(sections));
}

/// Adds every policy type, on the given route and its gateway.
inline void add_policies(Config& config, LinkedRoute& route) {
  using namespace std::chrono_literals;
  const auto policy = [&config](const std::string& name, PolicyType type, PolicySettings settings) {
    LinkedPolicy& added = config.policies.emplace_back();
    added.identity = {"ProxyPolicy", "shop", name, 0, {}};
    added.type = type;
    added.settings = std::move(settings);
    added.enforced = true;
    return static_cast<std::uint32_t>(config.policies.size() - 1);
  };
  const SecretKey secret{"shop", "keys", "value"};
  const auto limit = policy("limit", PolicyType::kRateLimit,
                            RateLimitSettings{{{100, 1s, 200, {{RateKey::kHeader, "x-user"}}}}, false});
  const auto concurrency = policy("concurrency", PolicyType::kConcurrencyLimit,
                                  ConcurrencySettings{{{10, {{RateKey::kSourceIp, ""}}}}, 503});
  const auto basic = policy("basic", PolicyType::kBasicAuth, BasicAuthSettings{"Shop", secret, true});
  const auto jwt = policy("jwt", PolicyType::kJwt,
                          JwtSettings{{{"https://id", {"shop"}, {"RS256"}, "https://id/keys"},
                                       {"https://other", {}, {"ES256"}, {}, R"({"keys":[]})"},
                                       {"https://third", {}, {"HS256"}, {}, {}, secret, true}},
                                      "authorization",
                                      "Bearer ",
                                      60s,
                                      {{"sub", "x-user"}}});
  const auto key = policy("key", PolicyType::kApiKey, ApiKeySettings{"x-api-key", "key", {secret}, "x-user", true});
  const CertificateNames names{{"a.example"}, {"spiffe://a"}, {"spiffe://b/"}, {"a@b"}, {Cidr{}}, {"a"}, {"00"}};
  const auto certificate = policy("certificate", PolicyType::kClientCertificate,
                                  ClientCertificateSettings{false, names, names, "x-client", true});
  const auto filter = policy(
      "filter", PolicyType::kRequestFilter,
      RequestFilterSettings{true, 403, 1, 2, 3, 4, 5, 6, {"GET"}, {"text/*"}, {"/p"}, {"q"}, {{"x-a", "h"}}, {"b"}});
  const auto oidc = policy(
      "oidc", PolicyType::kOidc,
      OidcSettings{"https://id", "shop", secret, secret, "/back", {"openid"}, {"x-user"}, {"admin"}, {"staff"}, true});
  const auto forward =
      policy("forward", PolicyType::kForwardAuth, ForwardAuthSettings{"http://auth", {"cookie"}, {"x-user"}, 5s, 1s});
  const auto cors = policy("cors", PolicyType::kCors, CorsSettings{{"https://a"}, {"GET"}, {"*"}, {"x-id"}, 60s, true});
  const auto security = policy("security", PolicyType::kSecurityHeaders,
                               SecurityHeadersSettings{true, 3600, true, true, "DENY", true, "no-referrer"});
  const auto access =
      policy("access", PolicyType::kIpAccess, IpAccessSettings{{.networks = {Cidr{}}}, {.networks = {Cidr{}}}});
  const Page page{"text/html", "back soon"};
  const auto maintenance = policy("maintenance", PolicyType::kMaintenance,
                                  MaintenanceSettings{true, 60, page, {Cidr{}}, {{"x-preview", "letmein"}}});
  const auto fixed = policy("fixed", PolicyType::kFixedResponse, FixedResponseSettings{410, {{"X-Who", "edge"}}, page});
  const auto pages = policy("pages", PolicyType::kErrorPages, ErrorPagesSettings{{{404, 404, page}, {500, 599, page}}});
  route.policies = {access, maintenance, limit, concurrency, filter,  certificate,
                    basic,  key,         jwt,   oidc,        forward, fixed};
  config.gateways[0].policies = {cors, security, pages};
  // Rules of the other listener match claims of tokens that its policy verifies.
  config.listeners[1].policies = {jwt};
  config.routes[2].claims = {{.claim = "plan"}, {.claim = "a.roles", .item = "admin"}};
}

/// Adds every setting of gateways, listeners, backends and rules.
inline void add_settings(Config& config, LinkedRoute& route) {
  using namespace std::chrono_literals;
  LinkedGateway& gateway = config.gateways[0];
  gateway.compression =
      CompressionSettings{1024, 6, {ContentCoding::kGzip, ContentCoding::kBrotli}, {"image/*"}, {"image/svg+xml"}};
  gateway.cache = CacheSettings{1 << 20, 1 << 10, 10s, 60s};
  gateway.tracing = TracingSettings{25, program::TraceSenders::kNever};
  gateway.access_log = AccessLogSettings{"json", {"/healthz"}};
  gateway.limits = ClientLimits{1000, 5s, 100, 200};
  config.listeners[0].redirect_scheme = SchemeRedirectSettings{"https", 8443, 301, {"/.well-known/"}};
  config.listeners[0].tls = ListenerTls{
      TlsMode::kTerminate, TlsVersion::k13, {{"shop", "cert"}}, {}, {}, true, false, false, {{"shop", "ca", "ca.crt"}}};
  LinkedBackend& backend = config.backends[0];
  backend.health_check =
      HealthCheckSettings{ProbeProtocol::kHttp, 10s, 2s, 1s, 2, 3, "/healthz", "probe", {200, 204}, {{"x-a", "b"}}, {}};
  backend.passive_check = PassiveCheckSettings{5, 3, 10s, 30s, 50};
  backend.circuit_breaker = CircuitBreakerSettings{5, 10s, 30s, 10, true};
  backend.tls = BackendTlsSettings{"api.internal", true, {{"shop", "ca", "ca.crt"}}, {}, {}, true};
  route.rules[0].mirrors = {{0, {10, 100}, "api.example.com"}, {std::nullopt, {}, {}}, {0, {1, 3}, {}}};
}

/// One of everything: every kind of record stands in its program.
inline Config one_of_everything() {
  Config config({"*.example.com", "api.example.com"});
  config.gateways[0].trusted_proxies = {*parse_cidr("10.0.0.0/8"), *parse_cidr("fd00::/8")};
  config.gateway("internal").addresses = {*parse_ip("127.0.0.1")};
  config.listener(1, "admin", 8080, {});
  const std::uint32_t api = config.backend("api");
  const std::uint32_t next = config.backend("api-next");

  LinkedRoute& split = config.route("split", {"api.example.com"}, {prefix("/api"), exact("/api/health")});
  split.rules[0].backends = {{api, 9}, {next, 1}, {std::nullopt, 0}};
  split.rules[0].filters = {{program::FilterOp::kRequestHeaderSet, "x-id", "%REQ_ID%", 0, 0},
                            {program::FilterOp::kRewritePrefix, "", "/v2/", 0, 0}};
  split.rules[0].retry = RouteRetry{2, program::kRetry5xx | program::kRetryReset};
  split.rules[0].request_timeout = std::chrono::seconds(5);
  split.rules[0].max_request_body = 1024;

  LinkedRoute& conditions = config.route(
      "conditions", {"*.example.com"},
      {with_header(prefix("/"), "x-env", "prod"), with_method(any(), "POST"), with_query(any(), "debug", "1"),
       pattern("^/v[0-9]+/"), with_header(pattern("x$"), "accept", "json", MatchType::kRegex)});
  conditions.expression = at(R"(NOT (source_ip in "10.1.0.0/16" OR path contains "zip") AND header:a != "b")");
  conditions.rules[0].backends = {{api, 1}};

  LinkedRoute& redirect = config.route("redirect", {}, {exact("/old"), any()});
  redirect.rules[0].filters = {{program::FilterOp::kRedirectHost, "", "new.example.com", 0, 0},
                               {program::FilterOp::kRedirect, "", "", 301, 8443}};
  redirect.listeners = {0, 1};
  LinkedPolicy& broken = config.policies.emplace_back();
  broken.identity = {"ProxyPolicy", "shop", "broken", 0, {}};
  redirect.policies = {0};
  add_policies(config, config.routes[0]);
  add_settings(config, config.routes[0]);
  return config;
}

}  // namespace edge::compiler::sample
