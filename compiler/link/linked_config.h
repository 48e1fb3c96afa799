// LinkedConfig: references resolved, defaults filled in, alternative forms of fields merged. Later stages see one form,
// whether it was written as ProxyRoute, HTTPRoute or Ingress.
//
// Vectors are sorted by identity, so that the order of files has no effect. Indices refer to the vectors here.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "base/path.h"
#include "base/source.h"
#include "compiler/link/conditions.h"
#include "compiler/link/identity.h"
#include "compiler/link/linked_settings.h"
#include "compiler/link/policies/linked_policy.h"
#include "compiler/link/wan/linked_wan.h"
#include "program/cluster_traffic.h"
#include "program/format/format.h"
#include "program/mirror_share.h"
#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::compiler {

enum class MatchType : std::uint8_t { kExact, kPresent, kRegex };

struct PathMatch {
  enum class Type : std::uint8_t { kNone, kExact, kPrefix, kRegex };
  Type type = Type::kNone;
  /// Exact and prefix: normalised as requests are. A prefix has no trailing slash, save `/` itself.
  Located<std::string> value;
};

struct FieldMatch {
  Located<std::string> name;  ///< header names in lower case
  Located<std::string> value;
  MatchType type = MatchType::kExact;
};

struct RuleMatch {
  PathMatch path;
  std::vector<FieldMatch> headers;
  std::optional<Located<std::string>> method;
  std::vector<FieldMatch> query;
  Span span;
};

struct HeaderChange {
  std::string name;  ///< lower case
  std::string value;
};

struct Filter {
  program::FilterOp op;
  std::string name;
  std::string value;
  std::uint32_t status = 0;        ///< redirects, retries
  std::uint32_t port = 0;          ///< redirects, 0: the scheme's default
  std::uint32_t seconds = 0;       ///< of a session
  std::uint32_t prefix = 0;        ///< bytes that a new prefix replaces where the path is a pattern
  std::uint32_t milliseconds = 0;  ///< of a retry
};

struct WeightedBackend {
  std::optional<std::uint32_t> backend;  ///< index into LinkedConfig::backends; nullopt: unresolved, answered 500
  std::uint32_t weight = 1;
  /// Replace the rule's filters, and include the backend's own after them. nullopt: it has none of its own.
  std::optional<std::vector<Filter>> filters{};
};

/// Mirrored copies of requests (filter RequestMirror).
struct Mirror {
  std::optional<std::uint32_t> backend;  ///< index into LinkedConfig::backends; nullopt: unresolved, no copy is sent
  program::MirrorShare share{};          ///< reduced
  std::string host{};                    ///< the Host of copies; empty: that of the request
};

struct RouteRetry {
  std::uint16_t max_retries = 0;
  std::uint16_t retry_on = 0;  ///< program::RetryOn bits
  std::chrono::nanoseconds try_timeout{0};
};

struct LinkedRule {
  /// At least one; a rule without `matches` has one RuleMatch that matches everything.
  std::vector<RuleMatch> matches;
  std::vector<Filter> filters;
  std::vector<WeightedBackend> backends;
  std::vector<Mirror> mirrors{};
  std::optional<RouteRetry> retry;
  std::chrono::nanoseconds request_timeout{0};
  std::chrono::nanoseconds idle_timeout{0};
  std::chrono::nanoseconds min_grpc_timeout{0};
  std::optional<std::uint64_t> max_request_body;
  bool buffer_request = false;
  bool buffer_response = false;
  std::uint64_t max_buffer = 0;  ///< bytes; 0: no limit of its own
  /// The rule's own policies (indices into LinkedConfig::policies), ascending by type, which replace the route's of the
  /// same type. An HTTPRoute's rules may have CORS and ExternalAuth. One that protects and cannot be enforced has no
  /// settings, and therefore denies: `denied` is the route's.
  std::vector<std::uint32_t> policies{};
  /// Not in the configuration: required by a policy (stages.h, add_login_rules). The route's expression does not apply
  /// to it, and it is not reported as shadowed.
  bool implied = false;
  Span span;
};

struct LinkedRoute {
  Identity identity;
  /// As written; empty when the route has none.
  std::vector<Located<HostPattern>> hostnames;
  std::optional<Located<std::string>> expression;
  std::vector<LinkedRule> rules;
  /// Indices into LinkedConfig::listeners that it attaches to, ascending.
  std::vector<std::uint32_t> listeners;
  /// Its own policies (indices into LinkedConfig::policies), at most one per type, ascending by type. The policies of a
  /// request on a gateway are returned by effective_policies().
  std::vector<std::uint32_t> policies{};
  /// A policy that protects it cannot be enforced: its requests are answered 503, never served (fail closed).
  bool denied = false;
};

/// A backend as one gateway calls it.
struct BackendVariant {
  std::uint32_t backend = 0;  ///< index into LinkedConfig::backends, as routes have it
  std::uint32_t variant = 0;  ///< likewise: the same with the gateway's certificate
};

struct LinkedGateway {
  Identity identity;
  /// Of a gateway with a certificate for backends: those that are called over TLS. Ascending by `backend`.
  std::vector<BackendVariant> variants{};
  /// Shown to backends. An empty name: what was asked for cannot be used, and these backends are not called.
  std::optional<CertificateName> client_certificate{};
  /// Of agents that serve it, ascending. Empty: all agents do.
  std::vector<std::string> agent_groups{};
  /// Empty: every address of the node.
  std::vector<IpAddress> addresses;
  std::vector<Cidr> trusted_proxies;
  /// Where other clusters reach a gateway that is for them alone; empty: it is for clients.
  std::vector<std::string> advertised{};
  bool for_clusters = false;
  /// Indices into LinkedConfig::policies, at most one per type, ascending by type.
  std::vector<std::uint32_t> policies{};
  std::optional<CompressionSettings> compression{};
  std::optional<CacheSettings> cache{};
  std::optional<TracingSettings> tracing{};
  std::optional<AccessLogSettings> access_log{};
  /// Absent: the defaults.
  std::optional<ClientLimits> limits{};
  PathRules paths{};
  bool canary_by_header = true;  ///< `X-Canary: true` selects the canary backend (rule D3)
  bool hides_reasons = false;    ///< the proxy's own answers have no X-Edge-Reason
};

struct LinkedListener {
  std::uint32_t gateway = 0;
  std::string name;  ///< of a ListenerSet's `namespace/set/listener`
  std::string set_space{};
  std::string set_name{};  ///< of the ListenerSet that it stands in; empty: it is the gateway's own
  std::uint16_t port = 0;
  program::Protocol protocol = program::Protocol::kHttp;
  /// Empty: every host.
  std::vector<Located<HostPattern>> hostnames;
  std::uint64_t max_request_body = 0;  ///< bytes; 0 unlimited
  /// Connections begin with a PROXY header.
  bool proxy_protocol = false;
  /// Its own policies (indices into LinkedConfig::policies), ascending by type, which replace the gateway's.
  std::vector<std::uint32_t> policies{};
  /// For plain HTTP listeners; absent: off.
  std::optional<SchemeRedirectSettings> redirect_scheme{};
  /// For HTTPS and TLS listeners.
  std::optional<ListenerTls> tls{};
  Span span;
  /// A listener of an older gateway, for other groups of agents, has the same port and name: no program contains both.
  bool overlaps = false;
};

/// The source of a backend's endpoints: a Service, at one of its ports.
struct EndpointSource {
  std::string name_space;
  std::string name;
  std::string port;               ///< name; may be empty
  std::uint16_t target_port = 0;  ///< number; 0: by name, or unknown
  bool only_port = false;         ///< the Service has no other of its protocol
  bool udp = false;               ///< a UDP port; otherwise a TCP port
  bool prefers_zone = false;      ///< by the Service: endpoints without hints are for agents of their zone
  std::int64_t generation = 0;    ///< of the backend
  Span reference{}, service{};    ///< positions of the backend's reference to the Service, and of the Service
};

/// A service of another cluster (program/cluster_traffic.h).
struct LinkedCluster {
  std::string cluster;  ///< `*`: every one that exports it
  std::string service;  ///< what its gateway is asked for
  std::string region{};
  std::uint32_t priority = 1;
  std::uint32_t weight = 1;
  /// Written addresses of its gateway; empty: those that it tells.
  std::vector<program::Endpoint> gateways{};
  BackendTlsSettings tls{};
};

/// Other clusters that serve a backend, and when.
struct LinkedFailover {
  /// Ascending by cluster.
  std::vector<LinkedCluster> clusters{};
  std::uint32_t healthy_percent = program::kUsualHealthyPercent;
  std::uint32_t most_in_flight = 0;  ///< for each own endpoint; 0: no bound
};

struct LinkedBackend {
  Identity identity;
  LinkedFailover failover{};
  EndpointSource source{};
  /// Replace `source`: sorted by address and port, without duplicates.
  std::vector<program::Endpoint> endpoints{};
  /// Likewise: sorted by host and port, without duplicates.
  std::vector<program::EndpointName> names{};
  /// The Host of requests, unless a filter of their rule sets it; empty: the client's.
  std::string host{};
  program::Balance balance = program::Balance::kRoundRobin;
  program::BackendProtocol protocol = program::BackendProtocol::kHttp1;
  program::ProxyProtocol proxy_protocol = program::ProxyProtocol::kNone;
  std::uint32_t max_connections = 0;
  std::uint32_t max_pending_requests = 0;
  std::uint32_t max_requests_per_connection = 0;
  std::uint32_t max_idle_connections = 0;
  std::uint16_t retry_on = 0;
  std::uint32_t max_retries = 0;             ///< of one request (retryPolicy.numRetries)
  std::uint32_t max_concurrent_retries = 0;  ///< of all concurrent requests (connectionLimits.maxRetries)
  std::uint8_t retry_budget_percent = 0;
  std::uint32_t min_concurrent_retries = 0;
  /// To all endpoints, over all cores; nullopt: unlimited.
  std::optional<std::uint32_t> max_idle_total{};
  std::chrono::nanoseconds connect_timeout{0};
  std::chrono::nanoseconds request_timeout{0};
  std::chrono::nanoseconds idle_timeout{0};
  std::chrono::nanoseconds per_try_timeout{0};
  std::chrono::nanoseconds backoff_base{0};
  std::chrono::nanoseconds backoff_max{0};
  std::chrono::nanoseconds slow_start{0};  ///< 0: a new endpoint gets its full share at once
  std::optional<HealthCheckSettings> health_check{};
  std::optional<PassiveCheckSettings> passive_check{};
  std::optional<CircuitBreakerSettings> circuit_breaker{};
  std::optional<BackendTlsSettings> tls{};  ///< absent: plain text
  /// Trailer fields that requests may have: lower case, `-` for `_`, ascending.
  std::vector<std::string> trailers{};
  bool takes_all_trailers = false;

  bool has_own_endpoints() const { return !endpoints.empty() || !names.empty(); }
  /// Other clusters alone serve it.
  bool is_remote() const { return source.name.empty() && !has_own_endpoints(); }
};

struct LinkedConfig {
  std::vector<LinkedGateway> gateways;
  std::vector<LinkedListener> listeners;
  std::vector<LinkedRoute> routes;
  std::vector<LinkedBackend> backends;
  /// The policies in use; of two of one type on one target the one that applies.
  std::vector<LinkedPolicy> policies{};
  /// Not part of a program: what agents of sites are given.
  LinkedWan wan{};
  /// Not part of the program: set by add_values() (link/values.h).
  program::EndpointSet endpoints{};
  program::SecretSet secrets{};  ///< those referred to above, with their values
  /// Of resources with errors, and of every gateway; see find_status().
  std::vector<ResourceStatus> statuses{};
};

/// Each costs a program; a gateway with one more group is not served.
inline constexpr std::size_t kMostAgentGroups = 16;

/// Returns the groups in gateways, ascending; empty: every gateway is for all agents.
std::vector<std::string> agent_groups(const LinkedConfig& config);

/// Returns the gateways that are for all agents or for this group, with their listeners and routes. For a group that no
/// gateway names these are the ones for all.
LinkedConfig config_of_group(const LinkedConfig& config, std::string_view group);

/// Fills in how many routes each listener of `statuses` has, which are sorted (conditions.h, sort_and_merge).
void count_attached_routes(const LinkedConfig& config, std::vector<ResourceStatus>& statuses);

/// The backend that a gateway calls where a route names `backend`.
std::uint32_t variant_for(const LinkedGateway& gateway, std::uint32_t backend);

/// Whether gateways of different groups have a port and name in common, so that one program cannot hold them all.
bool has_overlaps(const LinkedConfig& config);
/// Returns all gateways that one program can contain: without overlapping listeners.
LinkedConfig config_without_overlaps(const LinkedConfig& config);

}  // namespace edge::compiler
