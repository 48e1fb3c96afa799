// What the threads of a server have counted since it started, for metrics and reports.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/observe/access_log/access_log.h"
#include "runtime/policy/auth/oidc/login_faults.h"
#include "runtime/session/server/loop_probe.h"
#include "runtime/shape/cache/counts.h"

namespace edge::runtime {

/// Sums over the threads, each of which counts without a lock.
struct ServerStats {
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_active = 0;
  std::uint64_t connections_refused = 0;
  std::uint64_t requests = 0;
  std::uint64_t responses[6] = {};  ///< by class: 1xx..5xx at 1..5
  std::uint64_t upstream_connects = 0;
  std::uint64_t upstream_reused = 0;
  std::uint64_t upstream_retries = 0;
  std::uint64_t tls_handshakes = 0;    ///< completed handshakes with clients
  std::uint64_t tls13_handshakes = 0;  ///< of tls_handshakes; the others are TLS 1.2
  std::uint64_t tls13_resumed = 0;
  std::uint64_t tls_resumed = 0;            ///< of tls_handshakes
  std::uint64_t tls_failures = 0;           ///< aborted by either side, or timed out
  std::uint64_t upstream_tls_failures = 0;  ///< of connections to backends
  std::uint64_t mirrors = 0;
  std::uint64_t mirrors_dropped = 0;
  std::uint64_t buffer_memory_used = 0;
  std::uint64_t buffer_files_used = 0;
  std::uint64_t tunnels = 0;
  std::uint64_t tunnels_refused = 0;
  std::uint64_t tunnel_bytes_up = 0;
  std::uint64_t tunnel_bytes_down = 0;
  std::uint64_t udp_sessions = 0;
  std::uint64_t udp_sessions_active = 0;
  std::uint64_t udp_sessions_evicted = 0;
  std::uint64_t udp_datagrams_up = 0;
  std::uint64_t udp_datagrams_down = 0;
  std::uint64_t udp_bytes_up = 0;
  std::uint64_t udp_bytes_down = 0;
  std::array<std::uint64_t, 5> udp_drops{};  ///< by UdpDrop
  cache::Totals cache;
  /// By policy type (BasicAuth, APIKey, JWT, OIDC, ForwardAuth), and by outcome (passed, denied, redirected, failed).
  std::array<std::array<std::uint64_t, 4>, 5> authentication{};
  auth::LoginFaultCounts login_faults{};
  AccessLogCounts access_log;
  LoopLag loop_lag;
};

}  // namespace edge::runtime
