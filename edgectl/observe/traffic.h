// Traffic by route between two looks at the metrics of agents.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "edgectl/observe/series.h"

namespace edge::edgectl {

/// What the routes of one agent or more have counted so far. Only ever grows, but for an agent that starts anew.
struct RouteCounts {
  double requests = 0;
  double errors = 0;  ///< answered with 5xx, or not at all
  double duration_count = 0;
  double duration_sum = 0;
  std::map<double, double> buckets;  ///< by upper bound, each with all below it
};

/// By `gateway` and `route` label; a request that no route took has an empty one.
struct RouteName {
  std::string gateway;
  std::string route;
  auto operator<=>(const RouteName&) const = default;
};
using TrafficCounts = std::map<RouteName, RouteCounts>;

/// The families that are needed of an agent's /metrics.
const std::vector<std::string_view>& traffic_families();
/// Of one agent, by its exposition.
TrafficCounts traffic_counts(const std::vector<Series>& series);

struct RouteTraffic {
  RouteName name;
  double rate = 0;        ///< requests a second
  double error_part = 0;  ///< of them, 0 to 1
  double p50 = 0;         ///< seconds; not a number where nothing was measured
  double p99 = 0;
};

/// What came between two looks that were `seconds` apart, added up. An agent that counts from zero again is taken as
/// if it had begun then.
class Traffic {
 public:
  void add(const TrafficCounts& before, const TrafficCounts& after, double seconds);
  /// Most requests first; of equals by name. Those without any are left out.
  std::vector<RouteTraffic> routes() const;

 private:
  struct Sum {
    double rate = 0;
    double errors = 0;
    std::map<double, double> buckets;
  };
  std::map<RouteName, Sum> sums_;
};

/// As Prometheus estimates it, within the bucket that holds it; not a number without any observation.
double quantile(double part, const std::map<double, double>& buckets);

}  // namespace edge::edgectl
