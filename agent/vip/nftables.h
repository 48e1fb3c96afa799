// nftables rules for addresses that move between nodes, set by nfnetlink. The tables belong to this process: the kernel
// removes them when it ends, in whatever way.
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

/// Limit of connections that a table can distinguish from the old node's.
inline constexpr std::size_t kMaxFlows = 65'536;

/// For one thread.
class Nftables {
 public:
  /// Opens a socket; whether the kernel supports the rules is known after the first rule.
  static Result<Nftables> open();

  /// Forwards TCP packets to `address` that arrive on `link`, and belong to no connection of this node, to the machine
  /// `mac`. A connection is this node's when it is in `own`, or its SYN arrives from now on. With more than kMaxFlows
  /// of them forwarding stops. Only for an address that is not forwarded already: removing a missing table takes the
  /// kernel a hundred times longer than anything else here.
  Status send_on(std::uint64_t id, const IpAddress& address, const Link& link, const std::array<std::uint8_t, 6>& mac,
                 const std::vector<Flow>& own);
  /// Returns whether forwarding stopped because there were too many connections.
  bool is_full(std::uint64_t id);
  void end_send_on(std::uint64_t id);

  /// Stops ARP replies for the IPv4 `address`, and makes this node's ARP requests use `instead` as sender. Only for an
  /// address that is not hushed already.
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
