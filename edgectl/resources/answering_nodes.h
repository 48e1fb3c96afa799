// Which nodes answer at an address, by the statuses of the ProxyVIPs of a cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

struct AnsweringNodes {
  std::string vip;                 ///< `namespace/name`
  std::vector<std::string> nodes;  ///< that hold or announce it; empty: none
  std::string reason;              ///< why none does, as its condition says; may be empty
};

/// nullopt: it is the address of no ProxyVIP, or the cluster does not answer.
std::optional<AnsweringNodes> answering_nodes(Cluster& cluster, const IpAddress& address);

}  // namespace edge::edgectl
