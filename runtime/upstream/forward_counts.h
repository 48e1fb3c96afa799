// Counters of one thread for forwarded requests.
#pragma once

#include <array>

#include "net/counter.h"

namespace edge::runtime {

struct ForwardCounts {
  /// By class: 1xx..5xx at 1..5.
  std::array<net::Counter, 6> responses;
  net::Counter upstream_retries;
  /// Connections forwarded as bytes: TCP, TLS, and what follows an Upgrade.
  net::Counter tunnels;
  net::Counter tunnel_bytes_up;    ///< from clients
  net::Counter tunnel_bytes_down;  ///< to clients
};

}  // namespace edge::runtime
