// What the other machines of a link are told of an address, and what they say of it: gratuitous ARP (RFC 5227), and
// unsolicited neighbor advertisements (RFC 4861 §7.2.6). The kernel answers questions itself.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/vip/netlink.h"
#include "base/ip.h"
#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::vip {

/// Another machine says that it has an address.
struct Claimed {
  int link = 0;
  IpAddress address;
  std::array<std::uint8_t, 6> mac{};
};
/// `02:00:5e:00:53:01`.
std::string mac_text(const std::array<std::uint8_t, 6>& mac);

/// Of one thread.
class Neighbours {
 public:
  /// kPermissionDenied without CAP_NET_RAW.
  static Result<Neighbours> open();

  /// Everyone on `link` learns that `address` is here.
  Status announce(const Link& link, const IpAddress& address);

  int arp() const { return arp_.get(); }
  int advertisements() const { return nd_.get(); }
  /// The next that came; nullopt: nothing is there. What is neither an ARP packet nor an advertisement is passed over.
  std::optional<Claimed> next();

 private:
  Neighbours(net::Fd arp, net::Fd nd) : arp_(std::move(arp)), nd_(std::move(nd)) {}
  std::optional<Claimed> next_arp();
  std::optional<Claimed> next_advertisement();

  net::Fd arp_;
  net::Fd nd_;  ///< not valid where there is no IPv6
};

/// Of an ARP packet for Ethernet and IPv4: who says that he has which address. nullopt: it is no such packet, or a
/// probe, which says nothing.
std::optional<Claimed> read_arp(const std::uint8_t* packet, std::size_t size);
/// Of a neighbor advertisement, from its ICMPv6 header on.
std::optional<Claimed> read_advertisement(const std::uint8_t* packet, std::size_t size);

}  // namespace edge::agent::vip
