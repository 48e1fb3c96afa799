#include "compiler/link/wan/steering.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace edge::compiler {
namespace {

bool has_ports(WanProtocol protocol) { return protocol == WanProtocol::kTcp || protocol == WanProtocol::kUdp; }

std::string_view to_string(WanProtocol protocol) {
  switch (protocol) {
    case WanProtocol::kTcp:
      return "TCP";
    case WanProtocol::kUdp:
      return "UDP";
    case WanProtocol::kIcmp:
      return "ICMP";
    case WanProtocol::kOther:
      return "another protocol";
  }
  return "";
}

template <typename Value>
bool any_or_has(const std::vector<Value>& list, const Value& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

bool any_or_contains(const std::vector<Cidr>& list, const IpAddress& address) {
  return list.empty() || std::ranges::any_of(list, [&](const Cidr& cidr) { return cidr.contains(address); });
}

std::optional<std::uint32_t> site_of(const SteeringTable& table, const IpAddress& address) {
  for (const SitePrefix& entry : table.prefixes) {
    if (entry.prefix.contains(address)) return entry.site;
  }
  return std::nullopt;
}

}  // namespace

std::string to_string(const WanPacket& packet) {
  std::string text = edge::to_string(packet.source) + " -> " + edge::to_string(packet.destination) + ", " +
                     std::string(to_string(packet.protocol));
  if (has_ports(packet.protocol)) text += " port " + std::to_string(packet.port);
  text += ", DSCP " + std::to_string(packet.dscp);
  if (!packet.gateway.empty()) text += ", of the gateway " + packet.gateway;
  return text;
}

std::optional<std::string_view> mismatch(const LinkedTraffic& traffic, const WanPacket& packet) {
  if (!any_or_contains(traffic.sources, packet.source)) return "sources";
  if (!any_or_contains(traffic.destinations, packet.destination)) return "destinations";
  if (!any_or_has(traffic.protocols, packet.protocol)) return "protocols";
  const bool port = traffic.ports.empty() || (has_ports(packet.protocol) && any_or_has(traffic.ports, packet.port));
  if (!port) return "ports";
  if (!any_or_has(traffic.dscp, packet.dscp)) return "dscp";
  if (!any_or_has(traffic.gateways, packet.gateway)) return "gatewayRefs";
  return std::nullopt;
}

SteeringTable make_steering(const LinkedWan& wan) {
  SteeringTable table;
  table.rules.resize(wan.sites.size());
  table.links.resize(wan.sites.size());
  for (std::uint32_t site = 0; site < wan.sites.size(); ++site) {
    for (const Cidr& prefix : wan.sites[site].prefixes) table.prefixes.push_back({prefix, site});
  }
  std::ranges::sort(table.prefixes, {}, [](const SitePrefix& one) {
    return std::tuple(-one.prefix.prefix_length, one.prefix.address, one.site);
  });
  for (std::uint32_t policy = 0; policy < wan.policies.size(); ++policy) {
    for (const std::uint32_t site : wan.policies[policy].sites) {
      if (wan.policies[policy].matches.empty()) table.rules[site].push_back({.policy = policy});
      for (const LinkedTraffic& traffic : wan.policies[policy].matches) table.rules[site].push_back({policy, traffic});
    }
  }
  for (std::uint32_t link = 0; link < wan.links.size(); ++link) table.links[wan.links[link].site].push_back(link);
  for (std::vector<std::uint32_t>& links : table.links) {
    std::ranges::sort(links, {}, [&](std::uint32_t link) {
      const LinkedWanLink& one = wan.links[link];
      return std::tuple(one.metered, one.backup, one.cost, one.id.name_space, one.id.name);
    });
  }
  return table;
}

std::vector<std::uint32_t> allowed_links(const LinkedWan& wan, const SteeringTable& table, std::uint32_t site,
                                         std::optional<std::uint32_t> policy) {
  std::vector<std::uint32_t> links;
  const bool named = policy && !wan.policies[*policy].links.empty();
  for (const std::uint32_t link : named ? wan.policies[*policy].links : table.links[site]) {
    if (wan.links[link].enabled && wan.links[link].site == site) links.push_back(link);
  }
  // A policy orders links of one kind. What it lists first is not taken before others for being metered or a backup.
  std::ranges::stable_sort(
      links, {}, [&](std::uint32_t link) { return std::pair(wan.links[link].metered, wan.links[link].backup); });
  return links;
}

Steering steer(const LinkedWan& wan, const SteeringTable& table, const WanPacket& packet) {
  Steering steering{.from = site_of(table, packet.source), .to = site_of(table, packet.destination)};
  if (!steering.from || !steering.to || steering.from == steering.to) return steering;
  for (const SteeringRule& rule : table.rules[*steering.from]) {
    if (mismatch(rule.traffic, packet)) continue;
    steering.policy = rule.policy;
    break;
  }
  steering.links = allowed_links(wan, table, *steering.from, steering.policy);
  return steering;
}

}  // namespace edge::compiler
