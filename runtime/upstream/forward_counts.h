// What one thread counts of what it forwards.
#pragma once

#include <array>

#include "net/counter.h"

namespace edge::runtime {

struct ForwardCounts {
  /// By class: 1xx..5xx at 1..5.
  std::array<net::Counter, 6> responses;
  net::Counter upstream_retries;
  /// Connections whose bytes were forwarded unread: TCP, TLS, and what follows an Upgrade.
  net::Counter tunnels;
  net::Counter tunnel_bytes_up;    ///< from clients
  net::Counter tunnel_bytes_down;  ///< to clients
};

}  // namespace edge::runtime
