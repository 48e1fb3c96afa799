// Announces addresses to other machines on a link, and receives their announcements: gratuitous ARP (RFC 5227), and
// unsolicited neighbor advertisements (RFC 4861 §7.2.6). The kernel answers requests itself.
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

/// Another machine's claim of an address.
struct Claimed {
  int link = 0;
  IpAddress address;
  std::array<std::uint8_t, 6> mac{};
};
/// `02:00:5e:00:53:01`.
std::string mac_text(const std::array<std::uint8_t, 6>& mac);

/// For one thread.
class Neighbours {
 public:
  /// kPermissionDenied without CAP_NET_RAW.
  static Result<Neighbours> open();

  /// Announces to all machines on `link` that `address` is here.
  Status announce(const Link& link, const IpAddress& address);

  int arp() const { return arp_.get(); }
  int advertisements() const { return nd_.get(); }
  /// Returns the next received claim; nullopt: none. Ignores everything but ARP packets and advertisements.
  std::optional<Claimed> next();

 private:
  Neighbours(net::Fd arp, net::Fd nd) : arp_(std::move(arp)), nd_(std::move(nd)) {}
  std::optional<Claimed> next_arp();
  std::optional<Claimed> next_advertisement();

  net::Fd arp_;
  net::Fd nd_;  ///< invalid without IPv6
};

/// Parses an ARP packet for Ethernet and IPv4: the sender's claim. nullopt: not such a packet, or a probe, which claims
/// nothing.
std::optional<Claimed> read_arp(const std::uint8_t* packet, std::size_t size);
/// Parses a neighbor advertisement, from its ICMPv6 header on.
std::optional<Claimed> read_advertisement(const std::uint8_t* packet, std::size_t size);

}  // namespace edge::agent::vip
