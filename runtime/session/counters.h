// What one thread counts of its sessions.
#pragma once

#include <array>

#include "net/counter.h"
#include "program/format/policies.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/shape/cache/counts.h"
#include "runtime/upstream/forward_counts.h"

namespace edge::runtime {

/// BasicAuth, JWT, OIDC, ForwardAuth, in the order of their numbers.
inline constexpr std::size_t kAuthTypes = 4;
constexpr std::size_t auth_index(program::PolicyType type) {
  return static_cast<std::size_t>(type) - static_cast<std::size_t>(program::PolicyType::kBasicAuth);
}

struct Counters : ForwardCounts {
  net::Counter accepted;
  net::Counter active;
  net::Counter refused;
  net::Counter requests;
  net::Counter tls_handshakes;    ///< that came to an end
  net::Counter tls13_handshakes;  ///< of these; the others are TLS 1.2
  net::Counter tls13_resumed;
  net::Counter tls_resumed;      ///< of these
  net::Counter tls_failures;     ///< broken off, by either side or by time
  net::Counter tls_handshaking;  ///< under way
  /// Those that no rule takes, or that a rule denies, or that do not begin as they must.
  net::Counter tunnels_refused;
  /// Copies of requests: begun, under way; not begun, or given up since their backend was too slow.
  net::Counter mirrors;
  net::Counter mirrors_active;
  net::Counter mirrors_dropped;
  cache::Counts cache;
  /// By type (the first is BasicAuth's), and by how it ended.
  std::array<std::array<net::Counter, auth::kOutcomes>, kAuthTypes> authentication;
};

}  // namespace edge::runtime
