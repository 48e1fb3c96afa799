// Finds the nodes that answer at an address, by the statuses of the cluster's ProxyVIPs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

struct AnsweringNodes {
  std::string vip;                 ///< `namespace/name`
  std::vector<std::string> nodes;  ///< with or announcing it; empty: none
  std::string reason;              ///< why there is none, from its condition; may be empty
};

/// nullopt: it is not the address of a ProxyVIP, or the cluster does not answer.
std::optional<AnsweringNodes> answering_nodes(Cluster& cluster, const IpAddress& address);

}  // namespace edge::edgectl
