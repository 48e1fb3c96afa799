// Lists TCP connections to addresses of this node, by sock_diag(7).
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

/// Returns open, opening and closing connections to an address, at most `most`, of all processes in this network
/// namespace. The kernel scans all of its connections: after a tenth of a second this gives up (kUnavailable).
Result<std::vector<Flow>> flows_to(const IpAddress& address, std::size_t most);
/// Returns the addresses with connections, from one scan; likewise.
Result<std::set<IpAddress>> addresses_with_flows();

}  // namespace edge::agent::vip
