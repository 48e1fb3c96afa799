// Which share of a backend's requests each cluster gets (ProxyBackend.spec.failover): a pure function of what is
// healthy, decided when that changes and not for each request. Decision 341.
//
// Priorities are filled in order, as Envoy fills them with its overprovisioning: one takes all requests while
// `healthy_percent` of its endpoints can take any, and below that a share that keeps each of those at the same load;
// what is left goes to the next priority. 70 percent is Envoy's factor of 1.4 the other way round: an endpoint carries
// at most 1.4 times its usual load. There is no panic: an endpoint that is known to be bad gets nothing, and with none
// left requests are answered 503.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace edge::runtime {

/// The endpoints of one cluster.
struct FailoverGroup {
  /// Order in which groups are used; equal ones are used together. 0: the backend's own endpoints.
  std::uint32_t level = 0;
  /// Share among the groups of its level.
  std::uint32_t weight = 1;
  std::uint64_t all = 0;     ///< weight of its endpoints
  std::uint64_t usable = 0;  ///< of those that can take requests
  /// How much of the service is healthy behind them, 0 to 100.
  std::uint32_t healthy_percent = 100;
};

struct FailoverSettings {
  /// 1 to 100; 100: every endpoint that is lost moves its share.
  std::uint32_t healthy_percent = 70;
  /// Most that level 0 takes of all requests, 0 to 1: its load. What no other level takes goes to it all the same.
  double most_of_own = 1;
};

/// Returns the share of each group, in order; they add up to 1, or are all 0 when nothing is usable.
std::vector<double> failover_shares(std::span<const FailoverGroup> groups, const FailoverSettings& settings);

/// Returns the most that level 0 is to take when its usable endpoints have `in_flight` requests at a share of
/// `share_now`, and may have `most` each; in steps of a twentieth, so that small changes of load move nothing.
double most_of_own(std::uint64_t in_flight, double share_now, std::uint64_t endpoints, std::uint32_t most);

}  // namespace edge::runtime
