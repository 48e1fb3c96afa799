// TCP connections of this node to one of its addresses: sock_diag(7).
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::agent::vip {

struct Flow {
  IpAddress peer;
  std::uint16_t peer_port = 0;
  std::uint16_t own_port = 0;
};

/// Those that are open, or about to be, or to end; `most` of them. Of every process of this network namespace. The
/// kernel goes over all of its connections: where that takes longer than a tenth of a second this gives up
/// (kUnavailable).
Result<std::vector<Flow>> flows_to(const IpAddress& address, std::size_t most);
/// The addresses that have any, asked for all of them at once; likewise.
Result<std::set<IpAddress>> addresses_with_flows();

}  // namespace edge::agent::vip
