// Where on this node an address belongs, and whether it can be served here at all.
#pragma once

#include <string>
#include <vector>

#include "agent/vip/addresses.h"
#include "agent/vip/netlink.h"

namespace edge::agent::vip {

struct Placement {
  int link = 0;  ///< 0: none is needed, the node has the address by itself
  std::uint8_t prefix_length = 128;
  Serves serves = Serves::kNone;
  Unfit unfit = Unfit::kNo;
  std::string reason;
};

/// What a process may do of what addresses take.
struct Rights {
  bool net_admin = false;
  bool net_raw = false;
};
Rights own_rights();

/// `kept`: it is on the link `kept` because this process put it there, or was until it moved away; 0: neither.
Placement place(const VirtualAddress& address, const Labels& labels, const std::vector<ServedAddress>& served,
                const Rights& rights, Netlink& netlink, int kept);

}  // namespace edge::agent::vip
