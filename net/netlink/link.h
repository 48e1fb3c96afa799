// The kernel's links and their addresses: rtnetlink(7).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/netlink/socket.h"

namespace edge::net::netlink {

struct Link {
  int index = 0;
  std::string name{};
  std::string alias{};
  std::uint32_t mtu = 0;
  bool up = false;        ///< switched on
  bool running = false;   ///< up, with a carrier
  bool ethernet = false;  ///< it uses ARP and NDP
  std::array<std::uint8_t, 6> mac{};
};

struct LinkList {
  std::vector<Link> links;
  /// Links came or went while it was made: it may lack others.
  bool torn = false;
};
/// The links of the namespace. A list that is torn is asked for again, five times in all.
Result<LinkList> list_links(Socket& kernel);
/// All of them; kUnavailable: every list was torn.
Result<std::vector<Link>> links(Socket& kernel);
/// Takes a list: of one that is torn, those of `known` that it does not show stay.
void update_links(std::vector<Link>& known, LinkList list);

struct AddressChange {
  std::uint16_t type = 0;   ///< RTM_NEWADDR or RTM_DELADDR
  std::uint16_t flags = 0;  ///< NLM_F_CREATE and others
  int link = 0;
  IpAddress address{};
  std::uint8_t prefix_length = 128;  ///< of the address in IPv4-mapped form
  /// Seconds until the kernel removes it, and the node's own connections do not leave by it; 0: it stays.
  std::uint32_t lifetime = 0;
};
/// Of IPv6 the address is used at once, without detection of duplicates.
Status change_address(Socket& kernel, const AddressChange& change);

}  // namespace edge::net::netlink
