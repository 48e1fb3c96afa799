// What a site's node is to do: WantedTunnels, and which traffic may take which of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/wan/steer/steering.h"
#include "agent/wan/tunnel/wanted.h"

namespace edge::agent::wan {

struct WantedPolicy {
  std::string id;                               ///< `namespace/name`; empty: what no policy is for
  bool drops = false;                           ///< nothing leaves but by a link that is fit
  std::vector<std::string> links{};             ///< of WantedTunnels::uplinks, the preferred first
  std::optional<std::uint8_t> dscp{};           ///< that its packets are given
  std::optional<TrafficClass> traffic_class{};  ///< nullopt: by the packet's DSCP
  friend bool operator==(const WantedPolicy&, const WantedPolicy&) = default;
};

/// The first that matches a packet is the one.
struct WantedRule {
  std::size_t policy = 0;
  std::vector<Cidr> sources{};
  std::vector<Cidr> destinations{};
  std::vector<SteerProtocol> protocols{};
  std::vector<std::uint16_t> ports{};
  std::vector<std::uint8_t> dscp{};
  std::vector<std::string> gateways{};  ///< `namespace/name`
  friend bool operator==(const WantedRule&, const WantedRule&) = default;
};

struct WantedNode {
  WantedTunnels tunnels{};
  std::vector<WantedPolicy> policies{};  ///< the last one is for what no rule matches
  std::vector<WantedRule> rules{};
  friend bool operator==(const WantedNode&, const WantedNode&) = default;
};

/// What a policy has chosen for the traffic to one peer.
struct ChosenPath {
  std::size_t tunnel = 0;  ///< of WantedTunnels::tunnels
  std::uint32_t weight = 1;
  friend bool operator==(const ChosenPath&, const ChosenPath&) = default;
};
struct NodeChoice {
  std::size_t policy = 0;
  std::string peer;
  std::vector<ChosenPath> paths{};
  bool dropped = false;
  friend bool operator==(const NodeChoice&, const NodeChoice&) = default;
};
struct NodeChoices {
  std::vector<NodeChoice> choices{};  ///< what is missing has not been chosen yet
  std::vector<bool> alive{};          ///< by tunnel; what is missing lives
  friend bool operator==(const NodeChoices&, const NodeChoices&) = default;
};

/// The gateways that rules name, sorted: at most kMostGateways, the position of each is its number.
std::vector<std::string> named_gateways(const WantedNode& wanted);

struct TunnelsState;
/// The steering of a node. Traffic of a policy that has not chosen yet is dropped where the policy drops, and takes the
/// first of its tunnels otherwise. `faults`: what was left out, and why.
Steering make_node_steering(const WantedNode& wanted, const NodeChoices& choices, const TunnelsState& tunnels,
                            std::vector<std::string>& faults);

/// What is known of an assignment's tunnels, and was chosen among them, by the positions of the next one: traffic goes
/// on as it does while tunnels are changed.
TunnelsState carry_over(const WantedTunnels& next, const TunnelsState& state);
NodeChoices carry_over(const WantedNode& before, const WantedNode& next, const NodeChoices& choices);

}  // namespace edge::agent::wan
