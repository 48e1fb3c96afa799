// Keeps connections to an address after a planned move to another node. They stay on the old node: it keeps the
// address, without answering ARP for it, while it has connections and for the drain time at most; and the new node
// forwards packets of unknown connections to it. Decision 141.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "agent/vip/assignment.h"
#include "agent/vip/netlink.h"
#include "agent/vip/nftables.h"
#include "base/ip.h"
#include "base/log.h"

namespace edge::agent::vip {

/// For one thread.
class MovedConnections {
 public:
  /// `longest`: the longest time that connections are kept after a move.
  MovedConnections(Logger log, Time longest) : log_(std::move(log)), longest_(longest) {}

  /// Called when another node took an address that this one offered, while it is still on `link`. \returns whether its
  /// connections are kept here.
  bool keep(std::uint64_t id, const IpAddress& address, const Link& link, Netlink& netlink, Time now);
  /// Called when this node takes the address again, or must not have it any more.
  void end_keeping(std::uint64_t id, Netlink& netlink);
  bool keeps(std::uint64_t id) const { return kept_.contains(id); }
  /// Whether an address left so recently that packets on their way may still open connections here.
  bool expects_connections(Time now) const;
  std::size_t kept() const { return kept_.size(); }
  /// Returns the link of the kept address; 0: it is not kept.
  int link(std::uint64_t id) const;

  /// Called when this node takes an address from `node`, whose link has the MAC address `mac`.
  void send_on(std::uint64_t id, const IpAddress& address, const Link& link, const std::string& node,
               const std::array<std::uint8_t, 6>& mac);
  void end_sending_on(std::uint64_t id);
  std::size_t sent_on() const { return sent_on_.size(); }

  /// Ends forwarding to nodes that do not keep connections any more.
  void look_at_nodes(const Assignment& assignment);
  /// Refreshes the addresses. To be called four times within an address's lifetime.
  void refresh(Netlink& netlink, Time now);

 private:
  struct Kept {
    IpAddress address;
    int link = 0;
    Time since{};
  };
  struct SentOn {
    std::string node;
    bool full = false;
  };

  Nftables* nftables();
  void tell_missing(const std::string& why);

  const Logger log_;
  const Time longest_;
  std::optional<Nftables> nftables_;
  bool told_ = false;
  Time asked_{};  ///< when connections were last counted
  std::map<std::uint64_t, Kept> kept_;
  std::map<std::uint64_t, SentOn> sent_on_;
};

}  // namespace edge::agent::vip
