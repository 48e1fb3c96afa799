// `spec.bgp` of a ProxyVIP, defaults filled in: what a controller gives its agents, and agents announce by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"

namespace edge::schemas {

struct BgpPeer {
  IpAddress address;
  std::uint32_t as_number = 0;
  std::uint16_t port = 179;
  std::string password;       ///< sent to agents that the selector of the address chooses, and to no other; empty: none
  std::string fault;          ///< why there is no password though there should be one; empty: nothing is wrong
  std::uint8_t multihop = 0;  ///< 0: on a link of the node
  std::optional<IpAddress> source{};
  friend bool operator==(const BgpPeer&, const BgpPeer&) = default;
};

struct Bgp {
  std::uint32_t local_as = 0;
  std::uint32_t router_id = 0;  ///< 0: the agent chooses
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
  std::vector<BgpPeer> peers;
  friend bool operator==(const Bgp&, const Bgp&) = default;
};

}  // namespace edge::schemas
