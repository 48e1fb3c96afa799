// Virtual addresses as agents are given them: what every ProxyVIP says, and where agents hear each other.
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
  std::string password;  ///< sent to agents that the selector of the address chooses, and to no other
  std::string fault;     ///< why there is no password though there should be one
  std::uint8_t multihop = 0;
  std::optional<IpAddress> source{};
  friend bool operator==(const BgpPeer&, const BgpPeer&) = default;
};

/// `spec.bgp`, defaults filled in.
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

struct VirtualAddress {
  std::string name_space;  ///< with its cluster, where it has one
  std::string name;
  IpAddress address;
  std::uint8_t prefix_length = 128;  ///< in the mapped form
  std::optional<Bgp> bgp;            ///< of mode BGP
  std::string interface;
  std::uint32_t min_healthy_nodes = 0;
  Labels node_selector;
  std::uint64_t epoch = 0;  ///< as the status says
  friend bool operator==(const VirtualAddress&, const VirtualAddress&) = default;
};

/// An address of a pool is one of several of its ProxyVIP, and is called `VIP/ADDRESS`: no resource has a slash in its
/// name.
inline std::string pool_address_name(const std::string& vip, const IpAddress& address) {
  return vip + "/" + to_string(address);
}
/// The ProxyVIP of an address of this name.
inline std::string vip_of(const std::string& name) { return name.substr(0, name.find('/')); }

struct VirtualAddresses {
  std::vector<VirtualAddress> addresses;  ///< at most kMost
  std::string key;                        ///< by which agents know each other's words

  static constexpr std::size_t kMost = 1000;
};

/// What is to be sent.
struct CurrentAddresses {
  std::uint64_t version = 0;  ///< 0: nothing yet
  std::shared_ptr<const VirtualAddresses> set;
  std::map<std::string, std::string> members;  ///< `HOST:PORT` by name of the agent
};

}  // namespace edge::controller
