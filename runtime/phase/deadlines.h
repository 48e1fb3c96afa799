// Time limits of an exchange with one client, and of its parts.
#pragma once

#include <chrono>

#include "net/clock.h"

namespace edge::runtime {

/// The longest time in which a peer accepts no data, where the route sets no idleTimeout. The time in which it sends
/// none is then unlimited: keep-alive probes detect a dead peer (net::keep_alive).
inline constexpr net::Duration kWriteStall = std::chrono::seconds(60);

struct Deadlines {
  /// For the whole exchange.
  net::Time until = net::kNever;
  /// An endpoint called before this time has had its share of the time until the deadline, and is blamed when the
  /// deadline passes; one called later is not.
  net::Time fault_before = net::Time::min();
  /// The route's idleTimeout; 0: none.
  net::Duration idle{};

  /// Applies the configured timeout, of which an endpoint must have at least half.
  void bound(net::Time now, net::Time deadline) {
    until = deadline;
    fault_before = now + (deadline - now) / 2;
  }
  /// Applies the client's own timeout: no endpoint is blamed where that is too short.
  void bound_by_client(net::Time deadline) {
    if (deadline >= until) return;
    until = deadline;
    fault_before = net::Time::min();
  }
  /// Returns the deadline for progress, if the route has one. `writes`: a peer or a disk does not accept data, which is
  /// limited in any case.
  net::Time idle_until(net::Time now, bool writes) const {
    if (idle != net::Duration(0)) return now + idle;
    return writes ? now + kWriteStall : net::kNever;
  }
};

}  // namespace edge::runtime
