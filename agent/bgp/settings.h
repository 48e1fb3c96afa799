// Addresses that a node announces by BGP, and the routers that it announces them to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"

namespace edge::agent::bgp {

inline constexpr std::size_t kMaxPeers = 32;        ///< of an address
inline constexpr std::size_t kMaxSessions = 256;    ///< of a node
inline constexpr std::size_t kMaxCommunities = 64;  ///< likewise

struct Peer {
  IpAddress address;
  std::uint32_t as_number = 0;
  std::uint16_t port = 179;
  std::string password;       ///< empty: none
  std::string fault;          ///< why there is no password though there should be one; empty: nothing is wrong
  std::uint8_t multihop = 0;  ///< 0: on a link of the node
  std::optional<IpAddress> source{};
  friend bool operator==(const Peer&, const Peer&) = default;
};

/// As `spec.bgp` of a ProxyVIP, defaults filled in.
struct Settings {
  std::uint32_t local_as = 0;
  std::uint32_t router_id = 0;  ///< 0: that of the node
  std::vector<std::string> communities;
  std::optional<std::uint32_t> med{};
  std::optional<std::uint32_t> local_preference{};
  std::uint32_t hold_seconds = 90;
  std::uint32_t keepalive_seconds = 0;  ///< 0: a third of it
  std::uint32_t connect_retry_seconds = 5;
  bool bfd = false;
  std::uint32_t bfd_interval_ms = 300;
  std::uint32_t bfd_multiplier = 3;
  bool graceful_restart = false;
  std::uint32_t graceful_restart_seconds = 120;
  std::vector<Peer> peers;
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// An address of a node that has sessions for it, whether it is announced now or not.
struct Announcement {
  std::string vip;  ///< `namespace/name`
  IpAddress address;
  Settings settings;
  bool announced = false;
  bool graceful_shutdown = false;  ///< announced as about to go away (RFC 8326)
  friend bool operator==(const Announcement&, const Announcement&) = default;
};

}  // namespace edge::agent::bgp
