// Counters of one thread's sessions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/counter.h"
#include "program/format/policies.h"
#include "runtime/policy/auth/auth_result.h"
#include "runtime/shape/cache/counts.h"
#include "runtime/upstream/forward_counts.h"

namespace edge::runtime {

/// BasicAuth, APIKey, JWT, OIDC, ForwardAuth, in the order of their numbers; ClientCertificate.
inline constexpr std::size_t kAuthTypes = 6;
constexpr std::size_t auth_index(program::PolicyType type) {
  if (type == program::PolicyType::kClientCertificate) return kAuthTypes - 1;
  return static_cast<std::size_t>(type) - static_cast<std::size_t>(program::PolicyType::kBasicAuth);
}

/// Why datagrams were not forwarded.
enum class UdpDrop : std::uint8_t {
  kNoRoute,     ///< no rule takes them, or a policy would have to be asked
  kNoEndpoint,  ///< the backend has none that takes traffic
  kLimit,       ///< of sessions: the listener's, the source's, the backend's, or what the process can have
  kOversized,
  kSend,  ///< the socket had no room, or the system refused
};
inline constexpr std::size_t kUdpDrops = 5;

struct Counters : ForwardCounts {
  net::Counter udp_sessions;
  net::Counter udp_sessions_active;
  net::Counter udp_sessions_evicted;  ///< for others, where there was no room
  net::Counter udp_datagrams_up;      ///< of clients
  net::Counter udp_datagrams_down;
  net::Counter udp_bytes_up;
  net::Counter udp_bytes_down;
  std::array<net::Counter, kUdpDrops> udp_drops;
  void drop(UdpDrop why, std::uint64_t datagrams = 1) { udp_drops[static_cast<std::size_t>(why)].add(datagrams); }

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
