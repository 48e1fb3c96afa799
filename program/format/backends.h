// Program format (format.h): the backends section: balancing, limits, checks. Times are nanoseconds.
#pragma once

#include <cstdint>

#include "program/format/file.h"

namespace edge::program {

enum class Balance : std::uint32_t {
  kRoundRobin = 1,
  kLeastConn = 2,
  kP2c = 3,
  kEwma = 4,
  kRingHash = 5,
  kMaglev = 6,
  kRandom = 7,
};

/// The protocol to the endpoints; over TLS if there is a record for it. kUdp: datagrams, for listeners of kUdp alone,
/// never over TLS.
enum class BackendProtocol : std::uint32_t { kHttp1 = 0, kHttp2 = 1, kUdp = 2 };

enum BackendFlags : std::uint32_t {
  kTakesTrailers = 1,  ///< accepts any trailers of requests, like gRPC
};

/// How endpoints are sent the client's address.
enum class ProxyProtocol : std::uint32_t { kNone = 0, kV1 = 1, kV2 = 2 };

struct HealthCheckRecord;
struct PassiveCheckRecord;
struct CircuitBreakerRecord;
struct BackendTlsRecord;

/// Entries ascend by id. The four from health_check on have one record or none.
struct BackendRecord {
  std::uint64_t id;  ///< stable_id("ProxyBackend", namespace, name)
  StringRef name_space;
  StringRef name;
  Balance balance;
  std::uint32_t max_connections;
  std::uint32_t max_pending_requests;
  std::uint32_t max_requests_per_connection;  ///< 0: unlimited
  std::uint32_t max_idle_connections;         ///< per core and endpoint
  std::uint32_t retry_on;                     ///< RetryOn bits
  std::uint32_t max_retries;                  ///< of one request
  std::uint32_t max_concurrent_retries;       ///< of all requests at one time
  std::uint32_t retry_budget_percent;         ///< share of the requests in flight that may be retries
  std::uint32_t min_concurrent_retries;       ///< that the budget allows for any number of requests in flight
  std::uint32_t max_idle_total;               ///< to all endpoints, over all cores; kNone: unlimited
  std::uint32_t flags;                        ///< BackendFlags
  std::uint64_t connect_timeout_ns;
  std::uint64_t request_timeout_ns;  ///< 0: none
  std::uint64_t idle_timeout_ns;     ///< how long an idle connection is kept
  std::uint64_t per_try_timeout_ns;  ///< 0: none
  std::uint64_t backoff_base_ns;
  std::uint64_t backoff_max_ns;
  std::uint64_t slow_start_ns;  ///< in which a new endpoint reaches its full share; 0: at once
  BackendProtocol protocol;
  ProxyProtocol proxy_protocol;
  ArrayRef<HealthCheckRecord> health_check;
  ArrayRef<PassiveCheckRecord> passive_check;
  ArrayRef<CircuitBreakerRecord> circuit_breaker;
  ArrayRef<BackendTlsRecord> tls;  ///< none: plain text
  ArrayRef<StringRef> trailers;    ///< trailer fields that requests may have; compared by base/field_name.h
};
static_assert(sizeof(BackendRecord) == 176);

enum class ProbeProtocol : std::uint32_t { kHttp = 1, kTcp = 2, kGrpc = 3 };

struct HeaderRecord {
  StringRef name;  ///< lower case
  StringRef value;
};
static_assert(sizeof(HeaderRecord) == 16);

struct HealthCheckRecord {
  std::uint64_t interval_ns;
  std::uint64_t timeout_ns;
  std::uint64_t initial_delay_ns;
  ProbeProtocol protocol;
  std::uint32_t healthy_threshold;
  std::uint32_t unhealthy_threshold;
  std::uint32_t reserved;
  StringRef path;                           ///< HTTP
  StringRef host;                           ///< HTTP; empty: the endpoint's address
  StringRef grpc_service;                   ///< empty: the whole server
  ArrayRef<std::uint32_t> expected_status;  ///< HTTP; ascending
  ArrayRef<HeaderRecord> headers;           ///< HTTP
};
static_assert(sizeof(HealthCheckRecord) == 80);

/// Ejection of single endpoints by the results of requests.
struct PassiveCheckRecord {
  std::uint64_t interval_ns;
  std::uint64_t base_ejection_ns;
  std::uint32_t consecutive_errors;          ///< 0: not counted
  std::uint32_t consecutive_gateway_errors;  ///< 5xx responses; 0: not counted
  std::uint32_t max_ejection_percent;
  std::uint32_t reserved;
};
static_assert(sizeof(PassiveCheckRecord) == 32);

struct CircuitBreakerRecord {
  std::uint64_t interval_ns;
  std::uint64_t open_ns;
  std::uint32_t consecutive_errors;  ///< 0: never opens
  std::uint32_t max_ejection_percent;
  std::uint32_t split_local_errors;  ///< 1: local errors and the endpoint's are counted separately
  std::uint32_t reserved;
};
static_assert(sizeof(CircuitBreakerRecord) == 32);

enum BackendTlsFlags : std::uint32_t {
  kSystemAuthorities = 1,
  kRefuseConnections = 2,  ///< no CA resolves: nothing is sent
};

struct SubjectNameRecord {
  std::uint32_t uri;  ///< 1: a URI; 0: a DNS name
  std::uint32_t reserved;
  StringRef name;
};
static_assert(sizeof(SubjectNameRecord) == 16);

struct BackendTlsRecord {
  StringRef server_name;  ///< sent as SNI
  ArrayRef<SecretRecord> authorities;
  ArrayRef<SubjectNameRecord> alternative_names;  ///< the certificate must have one of these; none: it must be for
                                                  ///< server_name
  ArrayRef<SecretRecord> client_certificate;      ///< one or none
  std::uint32_t flags;
  std::uint32_t reserved;
};
static_assert(sizeof(BackendTlsRecord) == 40);

/// A service of another cluster that serves requests of a backend too (program/cluster_traffic.h). Its endpoints, the
/// addresses of that cluster's gateway, are among the backend's, with the cluster's name. Always HTTP/2.
struct ClusterRefRecord {
  std::uint64_t backend_id;
  StringRef cluster;
  StringRef service;       ///< value of kClusterServiceField
  StringRef region;        ///< empty: that of its endpoints
  std::uint32_t priority;  ///< 1 to kMostClusterPriority
  std::uint32_t weight;    ///< among clusters of the priority, 1 to kMostEndpointWeight
  /// Of the backend: requests in flight for each own endpoint above which others go to other clusters; 0: none.
  std::uint32_t most_in_flight;
  std::uint32_t healthy_percent;   ///< of the backend: runtime/upstream/health/failover.h; 1 to 100
  ArrayRef<BackendTlsRecord> tls;  ///< one
};
static_assert(sizeof(ClusterRefRecord) == 56);

struct BackendsHeader {
  ArrayRef<BackendRecord> backends;
  /// Ascending by backend and cluster; of one backend at most kMostClusterRefs.
  ArrayRef<ClusterRefRecord> clusters;
};
static_assert(sizeof(BackendsHeader) == 16);

}  // namespace edge::program
