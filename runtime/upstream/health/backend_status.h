// What an operator is told of a backend: the status document and the metrics are written from it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/clock.h"
#include "net/socket.h"
#include "runtime/upstream/health/circuit.h"
#include "runtime/upstream/health/health.h"

namespace edge::runtime {

struct EndpointStatus {
  net::SocketAddress address;
  bool ready = true;  ///< as the configuration's source says
  Health health = Health::kInitial;
  /// How long it is still ejected; 0: it is not.
  net::Duration ejected_for{};
  /// Whether the balancer sees it.
  bool in_use = false;
  std::uint32_t in_flight = 0;                         ///< counted for policies that weigh load alone
  std::chrono::system_clock::time_point last_check{};  ///< zero: never checked
  std::string last_error;                              ///< of the last check, empty when it succeeded

  /// `healthy` of the specification: it would take a request.
  bool healthy() const { return ready && health != Health::kUnhealthy && ejected_for == net::Duration(0); }
};

/// A name that stands for endpoints.
struct NameStatus {
  std::string name;           ///< `api.example.org:443`, or that of a service
  std::size_t addresses = 0;  ///< that are known
  std::string error{};        ///< of the last lookup, empty when it had an answer
  std::uint64_t lookups = 0;
  std::uint64_t failed_lookups = 0;
};

/// What the configuration has a backend judged by.
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
  net::Duration open_for{};  ///< until a probe is let through
  std::vector<EndpointStatus> endpoints;
  std::vector<NameStatus> names{};
  HealthFeatures features;
  std::uint32_t connections = 0;
  std::uint32_t idle = 0;  ///< of these, HTTP/1's that wait for a request
  std::uint64_t connects = 0;
  std::uint64_t connect_failures = 0;  ///< of these
  std::uint32_t queued = 0;
  std::uint64_t checks = 0;
  std::uint64_t failed_checks = 0;
  std::uint64_t ejections = 0;
  std::uint64_t circuit_opened = 0;  ///< by a run of errors, or by a probe that failed
  std::uint64_t retries = 0;
  std::uint64_t retries_refused = 0;  ///< over the budget or the limit
  std::uint64_t overflows = 0;        ///< requests refused because the queue was full
};

}  // namespace edge::runtime
