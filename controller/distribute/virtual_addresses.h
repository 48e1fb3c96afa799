// Virtual addresses as sent to agents: the settings of every ProxyVIP, and the agents' own addresses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/labels.h"

namespace edge::controller {

struct BgpPeer {
  IpAddress address;
  std::uint32_t as_number = 0;
  std::uint16_t port = 179;
  std::string password;  ///< sent only to agents that the address's selector matches
  std::string fault;     ///< why a configured password is missing
  std::uint8_t multihop = 0;
  std::optional<IpAddress> source{};
  friend bool operator==(const BgpPeer&, const BgpPeer&) = default;
};

/// `spec.bgp` with defaults.
struct Bgp {
  std::uint32_t local_as = 0;
  std::uint32_t router_id = 0;  ///< 0: the agent chooses
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
  std::vector<BgpPeer> peers;
  friend bool operator==(const Bgp&, const Bgp&) = default;
};

struct VirtualAddress {
  std::string name_space;  ///< with its cluster, if it has one
  std::string name;
  IpAddress address;
  std::uint8_t prefix_length = 128;  ///< for the address in IPv4-mapped form
  std::optional<Bgp> bgp;            ///< in mode BGP
  std::string interface;
  std::uint32_t min_healthy_nodes = 0;
  Labels node_selector;
  std::uint64_t epoch = 0;  ///< from the status
  friend bool operator==(const VirtualAddress&, const VirtualAddress&) = default;
};

struct VirtualAddresses {
  std::vector<VirtualAddress> addresses;  ///< at most kMost
  std::string key;                        ///< the key that authenticates agents' messages to each other

  static constexpr std::size_t kMost = 1000;
};

/// What to send.
struct CurrentAddresses {
  std::uint64_t version = 0;  ///< 0: nothing yet
  std::shared_ptr<const VirtualAddresses> set;
  std::map<std::string, std::string> members;  ///< `HOST:PORT` by name of the agent
};

}  // namespace edge::controller
