// Connections to an address that a planned move took to another node. They stay with the node that had it: that keeps
// the address, without answering for it, for as long as it has connections and no longer than the drain time; and the
// node that holds it now sends it the packets that belong to no connection of its own. Decision 141.
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

/// Of one thread.
class MovedConnections {
 public:
  /// `longest`: so long connections are kept after a move.
  MovedConnections(Logger log, Time longest) : log_(std::move(log)), longest_(longest) {}

  /// Another node took an address that this one gave it. It must still be on `link`. \returns whether its connections
  /// stay here.
  bool keep(std::uint64_t id, const IpAddress& address, const Link& link, Netlink& netlink, Time now);
  /// This node has the address again, or nobody is to have it here.
  void end_keeping(std::uint64_t id, Netlink& netlink);
  bool keeps(std::uint64_t id) const { return kept_.contains(id); }
  std::size_t kept() const { return kept_.size(); }
  /// Where the address was held that is kept; 0: it is not.
  int link(std::uint64_t id) const;

  /// This node is about to hold an address that `node` gave it, whose link there has the address `mac`.
  void send_on(std::uint64_t id, const IpAddress& address, const Link& link, const std::string& node,
               const std::array<std::uint8_t, 6>& mac);
  void end_sending_on(std::uint64_t id);
  std::size_t sent_on() const { return sent_on_.size(); }

  /// Ends what has ended on other nodes.
  void look_at_nodes(const Assignment& assignment);
  /// To be called four times within the lifetime of an address: it is refreshed.
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
  Time asked_{};  ///< when it was looked whether there are connections left
  std::map<std::uint64_t, Kept> kept_;
  std::map<std::uint64_t, SentOn> sent_on_;
};

}  // namespace edge::agent::vip
