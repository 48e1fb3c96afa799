// The settings of addresses that a node announces by BGP.
#pragma once

#include <cstddef>
#include <string>

#include "base/ip.h"
#include "schemas/bgp.h"

namespace edge::agent::bgp {

inline constexpr std::size_t kMaxPeers = 32;        ///< per address
inline constexpr std::size_t kMaxSessions = 256;    ///< per node
inline constexpr std::size_t kMaxCommunities = 64;  ///< per address

using Peer = schemas::BgpPeer;
using Settings = schemas::Bgp;

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
