// ProxyBackend as written: without defaults, references unresolved.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

using Duration = std::chrono::nanoseconds;

/// A port by number, or by name when the number is 0.
struct PortRef {
  std::uint16_t number = 0;
  std::string name{};
};

struct HealthCheck {
  Span span{};
  Maybe<std::string> protocol{};
  Maybe<Duration> interval{};
  Maybe<Duration> timeout{};
  Maybe<std::int64_t> healthy_threshold{};
  Maybe<std::int64_t> unhealthy_threshold{};
  Maybe<Duration> initial_delay{};
  /// httpPath or httpHealthCheck.path.
  Maybe<std::string> path{};
  Maybe<std::string> host{};
  std::vector<Located<std::int64_t>> expected_statuses{};
  std::vector<NameValue> headers{};
  Maybe<std::string> grpc_service{};
};

struct PassiveHealthCheck {
  Span span{};
  Maybe<bool> enabled{};
  Maybe<std::int64_t> consecutive_errors{};
  Maybe<Duration> interval{};
  Maybe<Duration> base_ejection_time{};
  Maybe<std::int64_t> max_ejection_percent{};
  Maybe<std::int64_t> consecutive_gateway_errors{};
};

struct CircuitBreaker {
  Span span{};
  /// consecutiveErrors or consecutiveFailures.
  Maybe<std::int64_t> consecutive_errors{};
  Maybe<Duration> interval{};
  Maybe<Duration> base_ejection_time{};
  Maybe<std::int64_t> max_ejection_percent{};
  Maybe<bool> split_errors{};
  Maybe<std::int64_t> max_connections{};
  Maybe<std::int64_t> max_pending_requests{};
};

struct RetryPolicy {
  Span span{};
  std::vector<Located<std::string>> retry_on{};
  Maybe<std::int64_t> max_retries{};
  Maybe<Duration> per_try_timeout{};
  Maybe<Duration> base_interval{};
  Maybe<Duration> max_interval{};
  bool has_budget = false;
  Maybe<std::int64_t> budget_percent{};
  Maybe<std::int64_t> min_concurrency{};
};

/// A name that a certificate may have.
struct SubjectName {
  bool uri = false;  ///< else a DNS name
  Located<std::string> name{};
};

/// TLS to the endpoints.
struct BackendTls {
  /// SNI, and the name that the certificate must have.
  Located<std::string> server_name;
  /// ConfigMaps or Secrets with a key `ca.crt`.
  std::vector<Reference> authorities{};
  bool system_roots = false;
  /// None: the certificate must be for `server_name`.
  std::vector<SubjectName> alternative_names{};
  /// A Secret with `tls.crt` and `tls.key`.
  std::optional<Reference> client_certificate{};
  /// Its CAs are unknown: no request may be sent.
  bool refused = false;
};

/// An entry of `spec.endpoints`, or the host of `spec.url`.
struct StaticEndpoint {
  /// Absent: `host` is resolved.
  std::optional<IpAddress> address{};
  std::string host{};      ///< lower case
  std::uint16_t port = 0;  ///< 0: from the host's SRV records
  std::uint16_t weight = 1;
  std::string zone{};  ///< empty: none
  Span span{};
};

/// A service of another cluster.
struct ClusterRef {
  Span span{};
  Located<std::string> cluster;  ///< `*`: every one that exports it
  std::string name_space{};
  Located<std::string> name;
  Located<PortRef> port;
  Maybe<std::int64_t> priority{};
  Maybe<std::int64_t> weight{};
  Maybe<std::string> region{};
  /// Replace the addresses that the cluster tells.
  std::vector<StaticEndpoint> gateways{};
};

struct ProxyBackend {
  Metadata metadata;
  std::vector<ClusterRef> clusters{};
  Maybe<std::int64_t> healthy_percent{};
  Maybe<std::int64_t> max_requests_per_endpoint{};
  /// If there are any, there is no service.
  std::vector<StaticEndpoint> endpoints{};
  /// From `spec.url`: the Host of requests, with the port where it is not the scheme's default. Empty: the client's.
  std::string host{};
  Reference service;
  Located<PortRef> service_port;
  Maybe<std::string> protocol{};
  Maybe<std::string> lb_policy{};
  /// connectTimeout or timeout.connect.
  Maybe<Duration> connect_timeout{};
  Maybe<Duration> request_timeout{};
  /// timeout.idle or connectionPool.idleConnTimeout.
  Maybe<Duration> idle_timeout{};
  std::optional<HealthCheck> health_check{};
  std::optional<PassiveHealthCheck> passive_health_check{};
  std::optional<CircuitBreaker> circuit_breaker{};
  Maybe<std::int64_t> max_connections{};
  Maybe<std::int64_t> max_pending_requests{};
  Maybe<std::int64_t> max_requests_per_connection{};
  Maybe<std::int64_t> max_concurrent_retries{};
  Maybe<std::int64_t> max_idle_connections{};
  Maybe<std::int64_t> max_idle_connections_per_host{};
  std::optional<RetryPolicy> retry_policy{};
  std::optional<BackendTls> tls{};
  Maybe<std::string> proxy_protocol{};
  Maybe<Duration> slow_start{};
  /// Names of trailer fields.
  std::vector<Located<std::string>> trailers{};
};

}  // namespace edge::compiler::model
