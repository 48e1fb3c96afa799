// How long the exchange with one client may take, and its parts.
#pragma once

#include <chrono>

#include "net/clock.h"

namespace edge::runtime {

/// For how long a peer may take nothing of what it is sent, where the route sets no idleTimeout. How long it may say
/// nothing is not bounded then: one that is gone is found by probes (net::keep_alive).
inline constexpr net::Duration kWriteStall = std::chrono::seconds(60);

struct Deadlines {
  /// Of the whole exchange.
  net::Time until = net::kNever;
  /// An endpoint that was called before this time has had its share of what there was until the deadline, and is at
  /// fault when that passes; one that was called later is not.
  net::Time fault_before = net::Time::min();
  /// The route's idleTimeout; 0: none.
  net::Duration idle{};

  /// The time that the settings give the exchange, of which an endpoint has to have at least half.
  void bound(net::Time now, net::Time deadline) {
    until = deadline;
    fault_before = now + (deadline - now) / 2;
  }
  /// The time that the client gives: whatever it is too short for is no endpoint's fault.
  void bound_by_client(net::Time deadline) {
    if (deadline >= until) return;
    until = deadline;
    fault_before = net::Time::min();
  }
  /// Until when nothing may move, if the route bounds that. `writes`: a peer or a disk does not take what it is given,
  /// which is bounded in any case.
  net::Time idle_until(net::Time now, bool writes) const {
    if (idle != net::Duration(0)) return now + idle;
    return writes ? now + kWriteStall : net::kNever;
  }
};

}  // namespace edge::runtime
