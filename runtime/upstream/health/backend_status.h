// The status of a backend for operators: the source of the status document and the metrics.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/clock.h"
#include "net/socket.h"
#include "runtime/upstream/health/circuit.h"
#include "runtime/upstream/health/health.h"
#include "runtime/upstream/health/request_result.h"

namespace edge::runtime {

struct EndpointStatus {
  net::SocketAddress address;
  bool ready = true;  ///< as stated by the source of the endpoints
  Health health = Health::kInitial;
  /// The rest of its ejection; 0: not ejected.
  net::Duration ejected_for{};
  /// Whether the balancer uses it.
  bool in_use = false;
  /// Whether it could be used, and is not needed: enough endpoints of the agent's zone can be.
  bool reserve = false;
  /// The other cluster whose gateway it is; empty: of this cluster.
  std::string cluster{};
  std::uint32_t cluster_priority = 0;  ///< of its cluster among others; 0: of this cluster, or not named
  std::string cluster_region{};        ///< empty: unknown
  double share = 0;                    ///< that its cluster gets of the requests, 0 to 1
  std::vector<std::string> zones{};    ///< whose agents prefer it
  std::uint32_t in_flight = 0;         ///< counted for load-based policies only
  std::chrono::system_clock::time_point last_check{};  ///< zero: never checked
  std::string last_error;                              ///< of the last check, empty when it succeeded

  /// `healthy` of the specification: whether it would get requests.
  bool healthy() const { return ready && health != Health::kUnhealthy && ejected_for == net::Duration(0); }
};

/// A cluster that serves a backend.
struct ClusterStatus {
  std::string cluster;  ///< empty: this one
  double share = 0;     ///< that it gets of the requests, 0 to 1
  /// Sent to another cluster, by RequestResult; counted since it had endpoints here.
  std::array<std::uint64_t, kRequestResults> tries{};
};

/// A name to be resolved to endpoints.
struct NameStatus {
  std::string name;           ///< `api.example.org:443`, or a service's name
  std::size_t addresses = 0;  ///< the number of known addresses
  std::string error{};        ///< of the last lookup, empty when it succeeded
  std::uint64_t lookups = 0;
  std::uint64_t failed_lookups = 0;
};

/// Which health features are configured for a backend.
struct HealthFeatures {
  bool checks = false;
  bool ejections = false;
  bool circuit = false;
  bool retries = false;
};

struct BackendStatus {
  std::uint64_t id = 0;
  std::string name_space;
  std::string name;
  Circuit::State circuit = Circuit::State::kClosed;
  net::Duration open_for{};  ///< until a probe is allowed
  std::vector<EndpointStatus> endpoints;
  std::vector<NameStatus> names{};
  std::vector<ClusterStatus> clusters{};  ///< this cluster first; empty: the backend names no other
  HealthFeatures features;
  std::uint32_t connections = 0;
  std::uint32_t idle = 0;  ///< of these, idle HTTP/1 connections
  std::uint64_t connects = 0;
  std::uint64_t connect_failures = 0;  ///< of these
  std::uint32_t queued = 0;
  std::uint64_t checks = 0;
  std::uint64_t failed_checks = 0;
  std::uint64_t ejections = 0;
  std::uint64_t circuit_opened = 0;  ///< by consecutive errors, or by a failed probe
  std::uint64_t retries = 0;
  std::uint64_t retries_refused = 0;  ///< over the budget or the limit
  std::uint64_t overflows = 0;        ///< requests refused because the queue was full
};

}  // namespace edge::runtime
