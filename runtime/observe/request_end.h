// How one exchange ended, for those who look at it from outside: metrics, the access log, a trace. Told once, at its
// end, whichever way it ended.
#pragma once

#include <cstdint>
#include <string_view>

#include "net/clock.h"
#include "runtime/match/load.h"
#include "runtime/observe/tally/request_tally.h"

namespace edge::runtime {

/// Where a request, or a connection, went, as far as it came. Records of the program that it pins.
struct RouteTaken {
  const LoadedListener* listener = nullptr;
  const LoadedHost* host = nullptr;
  const program::ActionRecord* action = nullptr;
  /// Null: none was chosen.
  const program::BackendRecord* backend = nullptr;

  const program::RouteRecord* route() const { return host == nullptr ? nullptr : &host->routes[action->route]; }
};

struct RequestEnd {
  /// That the client was sent; 0: none.
  int status = 0;
  /// The word of X-Edge-Reason, or why an answer was broken off. Empty: the upstream's answer, or a stored one, whole.
  /// Of static lifetime.
  std::string_view reason{};
  /// Of the bodies, without framing: what was taken of the client's, and given to it.
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  /// Times that an endpoint was looked for; 0: none was asked.
  std::uint32_t attempts = 0;
  /// The answer was begun and broken off, and not by the client.
  bool broken = false;
};

/// Once a thread and program for each combination that requests come to.
TallyNames tally_names(const LoadedProgram& program, const RouteTaken& taken);

/// Counts a request by the gateway, route and backend that it came to. Neither waits nor locks.
inline void count_request(RequestTally& tally, const LoadedProgram& program, const RouteTaken& taken,
                          const RequestEnd& end, net::Duration duration) {
  const TallyKey destination{taken.listener == nullptr ? nullptr : taken.listener->gateway, taken.route(),
                             taken.backend};
  tally.count(destination, {end.status, duration, end.received, end.sent}, [&] { return tally_names(program, taken); });
}

}  // namespace edge::runtime
