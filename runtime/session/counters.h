// What one thread counts of its sessions.
#pragma once

#include <array>

#include "net/counter.h"

namespace edge::runtime {

struct Counters {
  net::Counter accepted;
  net::Counter active;
  net::Counter refused;
  net::Counter requests;
  /// By class: 1xx..5xx at 1..5.
  std::array<net::Counter, 6> responses;
  net::Counter upstream_retries;
};

}  // namespace edge::runtime
