#include "compiler/link/wan/link_wan.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "compiler/link/defaults.h"
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

LinkedLimits limits_of(const model::QualityBounds& bounds) {
  LinkedLimits limits;
  if (bounds.max_loss) limits.loss = static_cast<std::uint32_t>(bounds.max_loss->value);
  if (bounds.max_latency) limits.latency = bounds.max_latency->value;
  if (bounds.max_loss) limits.loss_span = bounds.max_loss->span;
  if (bounds.max_latency) limits.latency_span = bounds.max_latency->span;
  if (bounds.max_jitter) limits.jitter = bounds.max_jitter->value;
  return limits;
}

WanClass class_of(std::string_view name) {
  return name == "Voice"     ? WanClass::kVoice
         : name == "Default" ? WanClass::kDefault
         : name == "Bulk"    ? WanClass::kBulk
                             : WanClass::kByDscp;
}

LinkProbe probe_of(std::string_view name) {
  return name == "ICMP" ? LinkProbe::kIcmp : name == "TCP" ? LinkProbe::kTcp : LinkProbe::kUdp;
}

std::optional<LinkedOverlay> overlay_of(const model::Overlay& overlay, const std::string& name_space) {
  if (!overlay.address) return std::nullopt;
  const std::string& text = overlay.address->value;
  const auto address = parse_ip(text.substr(0, text.find('/')));
  const auto network = parse_cidr(text);
  if (!address || !network) return std::nullopt;
  LinkedOverlay linked{.address = *address, .prefix_length = network->prefix_length};
  linked.port = static_cast<std::uint16_t>(value_or(overlay.port, linked.port));
  linked.mtu = static_cast<std::uint32_t>(value_or(overlay.mtu, linked.mtu));
  linked.public_key = value_or(overlay.public_key, "");
  if (overlay.key_secret) {
    const std::string& own = overlay.key_secret->name_space;
    linked.key_secret = {own.empty() ? name_space : own, overlay.key_secret->name.value};
  }
  return linked;
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
    linked.remote = site.remote_cluster.has_value();
    if (site.overlay) linked.overlay = overlay_of(*site.overlay, site.metadata.name_space);
    for (const auto& [key, value] : site.node_selector) linked.node_selector.emplace(key.value, value.value);
    for (const auto& prefix : site.prefixes) {
      if (holders.at({prefix.value.address, prefix.value.prefix_length}) != &site.metadata) continue;
      linked.prefixes.push_back(prefix.value);
      linked.prefix_spans.push_back(prefix.span);
    }
  }
}

void WanLinker::add(const model::WanLink& link, std::uint32_t site) {
  links_.emplace(&link, static_cast<std::uint32_t>(wan_.links.size()));
  LinkedWanLink& linked = wan_.links.emplace_back();
  linked.id = identity(link.metadata);
  linked.site = site;
  linked.enabled = value_or(link.enabled, true);
  linked.metered = value_or(link.metered, false);
  linked.backup = value_or(link.role, "primary") == "backup";
  linked.cost = value_or(link.cost, 100);
  linked.interface = value_or(link.interface, "");
  if (link.address) linked.address = link.address->value;
  if (link.gateway) linked.gateway = link.gateway->value;
  linked.up_mbps = static_cast<std::uint32_t>(value_or(link.up_mbps, 0));
  linked.down_mbps = static_cast<std::uint32_t>(value_or(link.down_mbps, 0));
  linked.probe = probe_of(value_or(link.probe.protocol, "UDP"));
  for (const auto& target : link.probe.targets) {
    if (const auto address = parse_ip(target.value)) linked.targets.push_back(*address);
  }
  linked.target_port = static_cast<std::uint16_t>(value_or(link.probe.port, linked.target_port));
  linked.interval = value_or(link.probe.interval, kDefaults.link_probe_interval);
  linked.timeout = value_or(link.probe.timeout, kDefaults.link_probe_timeout);
  linked.window = static_cast<std::uint32_t>(value_or(link.probe.window, kDefaults.link_probe_window));
  linked.limits = limits_of(link.thresholds);
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
  linked.limits = limits_of(policy.sla);
  linked.after = value_or(policy.failover_after, kDefaults.failover_after);
  linked.back_after = value_or(policy.back_after, kDefaults.failover_back_after);
  if (policy.set_dscp) linked.set_dscp = static_cast<std::uint8_t>(policy.set_dscp->value);
  linked.traffic_class = class_of(value_or(policy.traffic_class, ""));
  if (policy.traffic_class) linked.class_span = policy.traffic_class->span;
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
