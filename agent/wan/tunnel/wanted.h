// What a site's node is to have: its links, the peers' sites, and one tunnel for each pair of links. Plain values; the
// controller's assignment is converted to them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "net/socket.h"

namespace edge::agent::wan {

using WireGuardKey = std::array<std::uint8_t, 32>;

/// Limits of one assignment: beyond them the rest is left out and reported.
inline constexpr std::size_t kMostUplinks = 63;
inline constexpr std::size_t kMostTunnelsToASite = 126;
inline constexpr std::size_t kMostTunnels = 8192;
/// UDP ports that one tunnel may use at each end, from its base: one for each pair of keys that are valid at a time.
inline constexpr std::uint16_t kPortsOfATunnel = 4;

/// A key of a site, the private one of the node's own, the public one of a peer's. Keys of consecutive epochs overlap
/// while one replaces the other.
struct SiteKey {
  std::uint32_t epoch = 0;
  WireGuardKey key{};
  friend bool operator==(const SiteKey&, const SiteKey&) = default;
};

struct WantedUplink {
  std::string id;                      ///< `namespace/name` of the WANLink
  std::string interface;               ///< empty: that of the node's default route
  std::optional<IpAddress> address{};  ///< of the node on it; nullopt: the kernel chooses
  std::optional<IpAddress> gateway{};  ///< nullopt: that of the interface's default route
  std::uint32_t up_mbps = 0;           ///< 0: not known, traffic is not shaped
  std::uint32_t down_mbps = 0;
  friend bool operator==(const WantedUplink&, const WantedUplink&) = default;
};

struct WantedPeer {
  std::string id;  ///< `namespace/name` of the Site
  IpAddress overlay{};
  std::vector<Cidr> prefixes{};  ///< of all that is reached through it
  std::vector<SiteKey> keys{};   ///< one, or two while one replaces the other; by epoch
  friend bool operator==(const WantedPeer&, const WantedPeer&) = default;
};

struct WantedTunnel {
  std::string link;  ///< of `uplinks`
  std::string peer;  ///< of `peers`
  std::string peer_link;
  std::uint16_t port = 0;                          ///< the first of kPortsOfATunnel of this node
  std::vector<net::SocketAddress> endpoints = {};  ///< of the peer, with its first port; empty: it calls
  friend bool operator==(const WantedTunnel&, const WantedTunnel&) = default;
};

struct WantedTunnels {
  std::string site;  ///< `namespace/name`; empty: this node is none's
  Cidr overlay{};
  std::uint16_t mtu = 1420;  ///< of packets in tunnels, the largest that is tried
  std::vector<Cidr> prefixes{};
  std::vector<SiteKey> private_keys{};  ///< one, or two while one replaces the other; by epoch
  std::vector<WantedUplink> uplinks{};
  std::vector<WantedPeer> peers{};
  std::vector<WantedTunnel> tunnels{};
  friend bool operator==(const WantedTunnels&, const WantedTunnels&) = default;
};

}  // namespace edge::agent::wan
