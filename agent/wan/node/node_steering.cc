#include <algorithm>
#include <optional>
#include <set>

#include "agent/wan/node/wanted_node.h"
#include "agent/wan/tunnel/tunnels.h"

namespace edge::agent::wan {
namespace {

SteerChoice default_choice(const WantedPolicy& policy, const WantedPeer& peer, const TunnelsState& state) {
  if (policy.drops) return {.dropped = true};
  for (const std::string& link : policy.links) {
    for (const TunnelState& tunnel : state.tunnels) {
      if (tunnel.link == link && tunnel.peer == peer.id && tunnel.slot != 0) return {{{tunnel.slot, 1}}, false};
    }
  }
  // A peer without a tunnel: the node's own routes decide, as for every address of no site.
  return {};
}

SteerChoice made_choice(const NodeChoice& choice, const TunnelsState& state) {
  SteerChoice made{.shares = {}, .dropped = choice.dropped};
  for (const ChosenPath& path : choice.paths) {
    if (path.tunnel >= state.tunnels.size() || state.tunnels[path.tunnel].slot == 0) continue;
    made.shares.push_back({state.tunnels[path.tunnel].slot, std::max<std::uint32_t>(path.weight, 1)});
  }
  return made;
}

/// The position of a tunnel between the same links; nullopt: there is none any more.
std::optional<std::size_t> position(const WantedTunnels& in, const auto& tunnel) {
  const auto same = [&](const WantedTunnel& one) {
    return one.link == tunnel.link && one.peer == tunnel.peer && one.peer_link == tunnel.peer_link;
  };
  const auto found = std::ranges::find_if(in.tunnels, same);
  if (found == in.tunnels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - in.tunnels.begin());
}

}  // namespace

TunnelsState carry_over(const WantedTunnels& next, const TunnelsState& state) {
  TunnelsState carried;
  for (const WantedTunnel& tunnel : next.tunnels) {
    carried.tunnels.push_back(
        {.link = tunnel.link, .peer = tunnel.peer, .peer_link = tunnel.peer_link, .interface = {}, .fault = {}});
  }
  for (const TunnelState& tunnel : state.tunnels) {
    if (const auto at = position(next, tunnel)) carried.tunnels[*at] = tunnel;
  }
  for (const DeviceState& device : state.devices) {
    const auto at = position(next, state.tunnels[device.tunnel]);
    if (at) carried.devices.push_back({device.name, device.index, *at});
  }
  return carried;
}

NodeChoices carry_over(const WantedNode& before, const WantedNode& next, const NodeChoices& choices) {
  NodeChoices carried;
  carried.alive.assign(next.tunnels.tunnels.size(), true);
  for (std::size_t i = 0; i < std::min(choices.alive.size(), before.tunnels.tunnels.size()); ++i) {
    if (const auto at = position(next.tunnels, before.tunnels.tunnels[i])) carried.alive[*at] = choices.alive[i];
  }
  for (const NodeChoice& choice : choices.choices) {
    if (choice.policy >= before.policies.size()) continue;
    const auto policy = std::ranges::find(next.policies, before.policies[choice.policy].id, &WantedPolicy::id);
    if (policy == next.policies.end()) continue;
    NodeChoice one{.policy = static_cast<std::size_t>(policy - next.policies.begin()),
                   .peer = choice.peer,
                   .dropped = choice.dropped};
    for (const ChosenPath& path : choice.paths) {
      if (path.tunnel >= before.tunnels.tunnels.size()) continue;
      const auto at = position(next.tunnels, before.tunnels.tunnels[path.tunnel]);
      const bool allowed =
          at && std::ranges::find(policy->links, next.tunnels.tunnels[*at].link) != policy->links.end();
      if (allowed) one.paths.push_back({*at, path.weight});
    }
    carried.choices.push_back(std::move(one));
  }
  return carried;
}

std::vector<std::string> named_gateways(const WantedNode& wanted) {
  std::set<std::string> names;
  for (const WantedRule& rule : wanted.rules) names.insert(rule.gateways.begin(), rule.gateways.end());
  std::vector<std::string> all(names.begin(), names.end());
  all.resize(std::min<std::size_t>(all.size(), kMostGateways));
  return all;
}

Steering make_node_steering(const WantedNode& wanted, const NodeChoices& choices, const TunnelsState& tunnels,
                            std::vector<std::string>& faults) {
  Steering steering{.own = wanted.tunnels.prefixes};
  for (const WantedPeer& peer : wanted.tunnels.peers) {
    SteerSite site{.prefixes = peer.prefixes};
    site.prefixes.push_back({peer.overlay, 128});
    for (std::size_t i = 0; i < tunnels.tunnels.size(); ++i) {
      const bool alive = i >= choices.alive.size() || choices.alive[i];
      if (tunnels.tunnels[i].peer == peer.id && alive) site.alive.push_back(tunnels.tunnels[i].slot);
    }
    steering.sites.push_back(std::move(site));
    steering.overlays.push_back(peer.overlay);
  }
  const std::vector<std::string> gateways = named_gateways(wanted);
  for (const WantedRule& rule : wanted.rules) {
    SteerRule one{.policy = rule.policy,
                  .sources = rule.sources,
                  .destinations = rule.destinations,
                  .protocols = rule.protocols,
                  .ports = rule.ports,
                  .dscp = rule.dscp};
    for (const std::string& name : rule.gateways) {
      const auto found = std::ranges::lower_bound(gateways, name);
      const bool known = found != gateways.end() && *found == name;
      if (known) one.gateways.push_back(static_cast<std::uint32_t>(found - gateways.begin()));
      if (!known)
        faults.push_back("policies name more than " + std::to_string(kMostGateways) + " gateways; not " + name);
    }
    // A rule of which no gateway is left would match everything.
    if (rule.gateways.empty() || !one.gateways.empty()) steering.rules.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < wanted.policies.size(); ++i) {
    const WantedPolicy& policy = wanted.policies[i];
    SteerPolicy one{.dscp = policy.dscp, .traffic_class = policy.traffic_class};
    for (const WantedPeer& peer : wanted.tunnels.peers) {
      const auto found = std::ranges::find_if(
          choices.choices, [&](const NodeChoice& choice) { return choice.policy == i && choice.peer == peer.id; });
      SteerChoice made = found == choices.choices.end() ? SteerChoice() : made_choice(*found, tunnels);
      if (made.shares.empty() && !made.dropped) made = default_choice(policy, peer, tunnels);
      one.choices.push_back(std::move(made));
    }
    steering.policies.push_back(std::move(one));
  }
  for (const DeviceState& device : tunnels.devices) {
    steering.devices.push_back({device.name, tunnels.tunnels[device.tunnel].slot});
  }
  return steering;
}

}  // namespace edge::agent::wan
