#include "compiler/link/wan/link_wan.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "compiler/link/names.h"

namespace edge::compiler::link {
namespace {

Identity identity(const model::Metadata& metadata) {
  return {metadata.kind, metadata.name_space, metadata.name, metadata.created, metadata.span};
}

template <typename Value, typename Default>
Value value_or(const model::Maybe<Value>& field, Default fallback) {
  return field ? field->value : Value(fallback);
}

WanProtocol protocol_of(std::string_view name) {
  return name == "TCP" ? WanProtocol::kTcp : name == "UDP" ? WanProtocol::kUdp : WanProtocol::kIcmp;
}

std::vector<Cidr> values_of(const std::vector<Located<Cidr>>& networks) {
  std::vector<Cidr> values;
  for (const Located<Cidr>& network : networks) values.push_back(network.value);
  return values;
}

LinkedTraffic traffic_of(const model::TrafficMatch& match, const std::string& name_space) {
  LinkedTraffic traffic{.sources = values_of(match.sources), .destinations = values_of(match.destinations)};
  for (const auto& protocol : match.protocols) traffic.protocols.push_back(protocol_of(protocol.value));
  for (const auto& port : match.ports) traffic.ports.push_back(static_cast<std::uint16_t>(port.value));
  for (const auto& dscp : match.dscp) traffic.dscp.push_back(static_cast<std::uint8_t>(dscp.value));
  for (const model::Reference& gateway : match.gateways) {
    traffic.gateways.push_back((gateway.name_space.empty() ? name_space : gateway.name_space) + "/" +
                               gateway.name.value);
  }
  return traffic;
}

}  // namespace

WanLinker::WanLinker(const model::ResourceSet& resources) : resources_(resources) {
  // Of two sites with one network the older has it, which the claims report.
  std::map<std::pair<IpAddress, std::uint8_t>, const model::Metadata*> holders;
  for (const model::Site& site : resources.sites) {
    for (const auto& prefix : site.prefixes) {
      const model::Metadata*& holder = holders[{prefix.value.address, prefix.value.prefix_length}];
      if (holder == nullptr || holds_before(site.metadata, *holder)) holder = &site.metadata;
    }
  }
  for (const model::Site& site : resources.sites) {
    LinkedSite& linked = wan_.sites.emplace_back();
    linked.id = identity(site.metadata);
    linked.hub = value_or(site.role, "spoke") == "hub";
    linked.has_overlay = site.overlay && site.overlay->address;
    for (const auto& prefix : site.prefixes) {
      if (holders.at({prefix.value.address, prefix.value.prefix_length}) != &site.metadata) continue;
      linked.prefixes.push_back(prefix.value);
      linked.prefix_spans.push_back(prefix.span);
    }
  }
}

void WanLinker::add(const model::WanLink& link, std::uint32_t site) {
  links_.emplace(&link, static_cast<std::uint32_t>(wan_.links.size()));
  wan_.links.push_back({.id = identity(link.metadata),
                        .site = site,
                        .enabled = value_or(link.enabled, true),
                        .metered = value_or(link.metered, false),
                        .backup = value_or(link.role, "primary") == "backup",
                        .cost = value_or(link.cost, 100)});
}

void WanLinker::add(const model::WanPolicy& policy, std::vector<std::uint32_t> sites,
                    const std::vector<std::uint32_t>& links) {
  if (policy.sites.empty()) {
    for (std::uint32_t site = 0; site < wan_.sites.size(); ++site) {
      if (wan_.sites[site].id.name_space == policy.metadata.name_space) sites.push_back(site);
    }
  }
  std::ranges::sort(sites);
  const auto doubles = std::ranges::unique(sites);
  sites.erase(doubles.begin(), doubles.end());
  LinkedWanPolicy& linked = wan_.policies.emplace_back();
  linked.id = identity(policy.metadata);
  linked.sites = std::move(sites);
  linked.priority = value_or(policy.priority, 0);
  linked.drops = value_or(policy.fallback, "BestEffort") == "Drop";
  linked.strategy = value_or(policy.strategy, "Preferred");
  for (const model::TrafficMatch& match : policy.matches) {
    linked.matches.push_back(traffic_of(match, policy.metadata.name_space));
  }
  for (const std::uint32_t position : links) {
    const auto found = links_.find(&resources_.wan_links[position]);
    if (found != links_.end()) linked.links.push_back(found->second);
  }
}

LinkedWan WanLinker::take() {
  std::ranges::sort(wan_.policies, {}, [](const LinkedWanPolicy& policy) {
    return std::tuple(-policy.priority, policy.id.created, policy.id.name_space, policy.id.name);
  });
  return std::move(wan_);
}

}  // namespace edge::compiler::link
