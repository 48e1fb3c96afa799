// The other cluster that an endpoint belongs to, as the access log, traces and status name it.
#pragma once

#include <cstdint>
#include <string>

namespace edge::runtime {

/// Immutable; shared by the endpoints of one cluster, over all threads.
struct EndpointCluster {
  std::string name;
  std::string region;          ///< empty: unknown
  std::uint32_t priority = 1;  ///< as written: 1 to program::kMostClusterPriority
  friend bool operator==(const EndpointCluster&, const EndpointCluster&) = default;
};

}  // namespace edge::runtime
