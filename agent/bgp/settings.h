// The settings of addresses that a node announces by BGP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"

namespace edge::agent::bgp {

inline constexpr std::size_t kMaxPeers = 32;        ///< per address
inline constexpr std::size_t kMaxSessions = 256;    ///< per node
inline constexpr std::size_t kMaxCommunities = 64;  ///< per address

struct Peer {
  IpAddress address;
  std::uint32_t as_number = 0;
  std::uint16_t port = 179;
  std::string password;       ///< empty: none
  std::string fault;          ///< why a configured password is missing; empty: no error
  std::uint8_t multihop = 0;  ///< 0: directly connected
  std::optional<IpAddress> source{};
  friend bool operator==(const Peer&, const Peer&) = default;
};

/// `spec.bgp` of a ProxyVIP with defaults.
struct Settings {
  std::uint32_t local_as = 0;
  std::uint32_t router_id = 0;  ///< 0: the node's
  std::vector<std::string> communities;
  std::optional<std::uint32_t> med{};
  std::optional<std::uint32_t> local_preference{};
  std::uint32_t hold_seconds = 90;
  std::uint32_t keepalive_seconds = 0;  ///< 0: a third of hold_seconds
  std::uint32_t connect_retry_seconds = 5;
  bool bfd = false;
  std::uint32_t bfd_interval_ms = 300;
  std::uint32_t bfd_multiplier = 3;
  bool graceful_restart = false;
  std::uint32_t graceful_restart_seconds = 120;
  std::vector<Peer> peers;
  friend bool operator==(const Settings&, const Settings&) = default;
};

/// An address of a node with BGP sessions, whether announced at present or not.
struct Announcement {
  std::string vip;  ///< `namespace/name`
  IpAddress address;
  Settings settings;
  bool announced = false;
  bool graceful_shutdown = false;  ///< announced with GRACEFUL_SHUTDOWN (RFC 8326)
  friend bool operator==(const Announcement&, const Announcement&) = default;
};

}  // namespace edge::agent::bgp
