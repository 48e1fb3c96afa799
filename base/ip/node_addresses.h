// Addresses that lead to the node that a packet is on, or to its links: loopback, unspecified (which leads to the
// node), link-local with the metadata of clouds, and the same as NAT64 writes them (RFC 6052 §2.1).
#pragma once

#include <vector>

#include "base/ip.h"

namespace edge {

std::vector<Cidr> node_addresses();
bool is_node_address(const IpAddress& address);

}  // namespace edge
