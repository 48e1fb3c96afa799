// LinkedBackend: where requests are sent, and how, with defaults filled in. Part of LinkedConfig (linked_config.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "compiler/link/identity.h"
#include "compiler/link/linked_settings.h"
#include "program/cluster_traffic.h"
#include "program/format/format.h"
#include "program/values/endpoints.h"

namespace edge::compiler {

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

}  // namespace edge::compiler
