// Addresses that a node announces by BGP, and the routers that it announces them to.
#pragma once

#include <cstddef>
#include <string>

#include "base/ip.h"
#include "schemas/bgp.h"

namespace edge::agent::bgp {

inline constexpr std::size_t kMaxPeers = 32;        ///< of an address
inline constexpr std::size_t kMaxSessions = 256;    ///< of a node
inline constexpr std::size_t kMaxCommunities = 64;  ///< likewise

using Peer = schemas::BgpPeer;
using Settings = schemas::Bgp;

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
