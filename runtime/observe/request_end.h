// How an exchange ended, for metrics, the access log and traces. Reported once, at its end, in every case.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/clock.h"
#include "runtime/match/load.h"
#include "runtime/observe/tally/request_tally.h"

namespace edge::runtime {

/// Where a request or connection was routed, as far as routing got. Records of the program that it pins.
struct RouteTaken {
  const LoadedListener* listener = nullptr;
  const LoadedHost* host = nullptr;
  const program::ActionRecord* action = nullptr;
  /// Null: none was chosen.
  const program::BackendRecord* backend = nullptr;

  const program::RouteRecord* route() const { return host == nullptr ? nullptr : &host->routes[action->route]; }
};

struct RequestEnd {
  /// The status sent to the client; 0: none.
  int status = 0;
  /// The value of X-Edge-Reason, or why a response was aborted. Empty: the upstream's or a stored response was sent
  /// completely. Static lifetime.
  std::string_view reason{};
  /// Bytes of the bodies, without framing: received from the client, and sent to it.
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  /// How often an endpoint was chosen; 0: the request was not forwarded.
  std::uint32_t attempts = 0;
  /// The response was begun and aborted, and not by the client.
  bool broken = false;
};

/// Returns the names for the counters; called once per thread and program for each combination that occurs.
TallyNames tally_names(const LoadedProgram& program, const RouteTaken& taken);

/// Counts a request by its gateway, route and backend. Neither blocks nor locks.
inline void count_request(RequestTally& tally, const LoadedProgram& program, const RouteTaken& taken,
                          const RequestEnd& end, net::Duration duration) {
  const TallyKey destination{taken.listener == nullptr ? nullptr : taken.listener->gateway, taken.route(),
                             taken.backend};
  tally.count(destination, {end.status, duration, end.received, end.sent}, [&] { return tally_names(program, taken); });
}

}  // namespace edge::runtime
