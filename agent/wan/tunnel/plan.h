// WantedTunnels as what the kernel is to have: a link for every tunnel and pair of keys, rules, and routes. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "agent/wan/tunnel/marks.h"
#include "agent/wan/tunnel/rtnetlink.h"
#include "agent/wan/tunnel/wanted.h"
#include "agent/wan/tunnel/wireguard.h"

namespace edge::agent::wan {

/// Every tunnel of a pair of keys has its own link, so that a new key is in use before the old one is given up.
struct PlannedDevice {
  std::string name;           ///< of the link: at most 15 characters, the same for the same tunnel and keys
  std::string alias;          ///< begins with kAliasPrefix
  std::size_t tunnel = 0;     ///< of WantedTunnels::tunnels
  std::uint64_t newness = 0;  ///< the higher the newer its keys
  WireGuardSettings settings{};
  std::vector<net::SocketAddress> endpoints{};  ///< with the port of this pair of keys
};

/// Which tunnel is which of those to its site, [1, kMostTunnelsToASite], by position in WantedTunnels::tunnels.
using Slots = std::vector<std::uint32_t>;
/// What is kept of them from one assignment to the next.
using KeptSlots = std::map<std::string, std::uint32_t>;

/// A tunnel that is there keeps its number; a new one takes the lowest that is free. Replaces `kept`.
Slots assign_slots(const WantedTunnels& wanted, KeptSlots& kept);

/// The number of an uplink, [1, kMostUplinks]; 0: it is not known, or there are too many.
std::uint32_t uplink_number(const WantedTunnels& wanted, const std::string& id);

/// The links; a tunnel whose peer or keys are missing has none. `faults`: what was left out, and why.
std::vector<PlannedDevice> plan_devices(const WantedTunnels& wanted, std::vector<std::string>& faults);

std::vector<Rule> plan_rules(const WantedTunnels& wanted, const Slots& slots);

/// A link that is there.
struct ReadyDevice {
  std::size_t tunnel = 0;
  int link = 0;
  bool carries = false;  ///< of those of its tunnel, the one that packets take
  bool up = false;       ///< it has a session
  std::uint32_t mtu = 0;
};
/// How an uplink's packets leave.
struct ReadyUplink {
  std::uint32_t number = 0;
  int link = 0;  ///< 0: it is not there, packets for it are not sent
  std::optional<IpAddress> source{};
  std::optional<IpAddress> gateway_v4{};
  std::optional<IpAddress> gateway_v6{};
};
std::vector<Route> plan_routes(const WantedTunnels& wanted, const Slots& slots, std::span<const ReadyDevice> devices,
                               std::span<const ReadyUplink> uplinks);

}  // namespace edge::agent::wan
