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
#include "schemas/bgp.h"

namespace edge::controller {

struct VirtualAddress {
  std::string name_space;  ///< with its cluster, if it has one
  std::string name;
  IpAddress address;
  std::uint8_t prefix_length = 128;  ///< in the mapped form
  std::optional<schemas::Bgp> bgp;   ///< of mode BGP
  std::string interface;
  std::uint32_t min_healthy_nodes = 0;
  Labels node_selector;
  std::uint64_t epoch = 0;  ///< from the status
  bool site = false;        ///< no address: who holds the tunnels of the Site of this name
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
  std::string key;                        ///< the key that authenticates agents' messages to each other

  static constexpr std::size_t kMost = 1000;
};

/// What to send.
struct CurrentAddresses {
  std::uint64_t version = 0;  ///< 0: nothing yet
  std::shared_ptr<const VirtualAddresses> set;
  std::map<std::string, std::string> members;  ///< `HOST:PORT` by name of the agent
  std::uint64_t labels_version = 0;            ///< another one once the labels of a node are others
};

}  // namespace edge::controller
