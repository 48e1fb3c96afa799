// Counters of one thread's sessions.
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
  net::Counter tls_handshakes;    ///< completed
  net::Counter tls13_handshakes;  ///< of tls_handshakes; the others are TLS 1.2
  net::Counter tls13_resumed;
  net::Counter tls_resumed;      ///< of tls_handshakes
  net::Counter tls_failures;     ///< aborted by either side, or timed out
  net::Counter tls_handshaking;  ///< in progress
  /// Connections without a matching rule, denied by a rule, or with an invalid beginning.
  net::Counter tunnels_refused;
  /// Mirrored copies: started; in progress; not started, or abandoned because their backend was too slow.
  net::Counter mirrors;
  net::Counter mirrors_active;
  net::Counter mirrors_dropped;
  cache::Counts cache;
  /// By policy type (the first is BasicAuth's), and by outcome.
  std::array<std::array<net::Counter, auth::kOutcomes>, kAuthTypes> authentication;
};

}  // namespace edge::runtime
