// Determines the link of this node for an address, and whether it can be served here at all.
#pragma once

#include <string>
#include <vector>

#include "agent/vip/addresses.h"
#include "agent/vip/netlink.h"

namespace edge::agent::vip {

struct Placement {
  int link = 0;  ///< 0: none is needed, the address is configured on the node
  std::uint8_t prefix_length = 128;
  Serves serves = Serves::kNone;
  Unfit unfit = Unfit::kNo;
  std::string reason;
};

/// This process's privileges for adding addresses.
struct Rights {
  bool net_admin = false;
  bool net_raw = false;
};
Rights own_rights();

/// `kept`: the link that this process added the address to, or had until it moved away; 0: none.
Placement place(const VirtualAddress& address, const Labels& labels, const std::vector<ServedAddress>& served,
                const Rights& rights, Netlink& netlink, int kept);

}  // namespace edge::agent::vip
