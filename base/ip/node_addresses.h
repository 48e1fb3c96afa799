// Addresses of the node itself, or of its links: loopback, unspecified (which reaches the node), link-local including
// cloud metadata services, and the same in NAT64 form (RFC 6052 §2.1).
#pragma once

#include <vector>

#include "base/ip.h"

namespace edge {

std::vector<Cidr> node_addresses();
bool is_node_address(const IpAddress& address);

}  // namespace edge
