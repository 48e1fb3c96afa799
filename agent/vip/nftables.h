// Rules of nftables for addresses that move between nodes, spoken to the kernel directly by nfnetlink. The tables
// belong to this process: the kernel removes them when it ends, however it ends.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/vip/flows.h"
#include "agent/vip/netlink.h"
#include "base/ip.h"
#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::vip {

/// Connections that a table can tell from those of the node before.
inline constexpr std::size_t kMaxFlows = 65'536;

/// Of one thread.
class Nftables {
 public:
  /// Opens a socket; whether the kernel has what the rules take is known from the first rule.
  static Result<Nftables> open();

  /// TCP packets to `address` that come in on `link`, and belong to no connection of this node, go on to the machine
  /// `mac`. A connection is this node's when it is among `own`, or its SYN comes from now on. Once there are more than
  /// kMaxFlows of them nothing is sent on any more. Of an address that is not sent on already: to remove a table that
  /// is not there takes the kernel a hundred times longer than anything else here.
  Status send_on(std::uint64_t id, const IpAddress& address, const Link& link, const std::array<std::uint8_t, 6>& mac,
                 const std::vector<Flow>& own);
  /// Whether `send_on` stopped, because there were too many connections.
  bool is_full(std::uint64_t id);
  void end_send_on(std::uint64_t id);

  /// The IPv4 `address` is not answered for by ARP, and ARP questions of this node do not name it as their sender, but
  /// `instead`. Of an address that is not hushed already.
  Status hush(std::uint64_t id, const IpAddress& address, const IpAddress& instead);
  void end_hush(std::uint64_t id);

 private:
  explicit Nftables(net::Fd fd) : fd_(std::move(fd)) {}
  Status send(const std::vector<char>& messages, std::uint32_t first, std::uint32_t last);
  void remove(std::uint8_t family, const std::string& table);

  net::Fd fd_;
  std::uint32_t sequence_ = 0;
};

}  // namespace edge::agent::vip
