// TCP connections of this node to one of its addresses: sock_diag(7).
#pragma once

#include <cstdint>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::agent::vip {

struct Flow {
  IpAddress peer;
  std::uint16_t peer_port = 0;
  std::uint16_t own_port = 0;
};

/// Those that are open, or about to be, or to end; `most` of them. Of every process of this network namespace.
Result<std::vector<Flow>> flows_to(const IpAddress& address, std::size_t most);

}  // namespace edge::agent::vip
