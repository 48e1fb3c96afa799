#include "agent/wan/tunnel/plan.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace edge::agent::wan {
namespace {

constexpr std::uint16_t kKeepaliveSeconds = 25;
/// Behind every route that leads somewhere.
constexpr std::uint32_t kLastMetric = 0xfffe'0000;
constexpr std::uint32_t kMetric = 100;
/// Own networks come before equal ones of others.
constexpr std::uint32_t kOwnMetric = 50;
/// Of the addresses within tunnels, one route for each link.
constexpr std::uint32_t kOverlayMetric = 1000;
constexpr std::uint8_t kWhole = 128;

std::string identity(const WantedTunnels& wanted, const WantedTunnel& tunnel) {
  return wanted.site + " " + tunnel.link + " > " + tunnel.peer + " " + tunnel.peer_link;
}

/// FNV-1a. Names must not collide on one node, where there are some thousands at most, and do not come from outside.
std::string short_name(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  static constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  std::string name;
  for (int i = 0; i < 10; ++i) {
    name += kDigits[hash & 31];
    hash >>= 5;
  }
  return name;
}

const WantedPeer* peer_of(const WantedTunnels& wanted, const std::string& id) {
  const auto found = std::ranges::find(wanted.peers, id, &WantedPeer::id);
  return found == wanted.peers.end() ? nullptr : &*found;
}

Route unreachable(std::uint32_t table, bool v6) {
  Cidr any;
  any.prefix_length = v6 ? 0 : 96;
  if (!v6) any.address.bytes[10] = any.address.bytes[11] = 0xff;
  return {.table = table, .to = any, .kind = RouteKind::kUnreachable, .metric = kLastMetric};
}

std::uint32_t last_slot(const Slots& slots) { return slots.empty() ? 0 : *std::ranges::max_element(slots); }

PlannedDevice plan_device(const WantedTunnels& wanted, std::size_t at, const WantedPeer& peer, const SiteKey& own,
                          const SiteKey& other) {
  const WantedTunnel& tunnel = wanted.tunnels[at];
  const std::uint32_t own_parity = own.epoch & 1;
  const std::uint32_t peer_parity = other.epoch & 1;
  PlannedDevice device{
      .name = kDevicePrefix + short_name(identity(wanted, tunnel)) + std::to_string(2 * own_parity + peer_parity),
      .alias = std::string(kAliasPrefix) + identity(wanted, tunnel),
      .tunnel = at};
  // An interface takes 255 characters.
  device.alias.resize(std::min<std::size_t>(device.alias.size(), 250));
  device.newness = std::uint64_t{own.epoch} + other.epoch;
  device.settings = {.private_key = own.key,
                     .peer_key = other.key,
                     .port = static_cast<std::uint16_t>(tunnel.port + 2 * own_parity + peer_parity),
                     .mark = link_mark(uplink_number(wanted, tunnel.link)),
                     .keepalive = kKeepaliveSeconds,
                     .allowed = peer.prefixes};
  device.settings.allowed.push_back({peer.overlay, kWhole});
  for (net::SocketAddress endpoint : tunnel.endpoints) {
    endpoint.port = static_cast<std::uint16_t>(endpoint.port + 2 * peer_parity + own_parity);
    device.endpoints.push_back(endpoint);
  }
  return device;
}

/// Of the links: packets of tunnels leave by their own, or not at all.
void add_uplink_routes(std::span<const ReadyUplink> uplinks, std::set<Route>& routes) {
  for (const bool v6 : {false, true}) {
    for (const ReadyUplink& uplink : uplinks) {
      const std::uint32_t table = link_table(uplink.number);
      Route route = unreachable(table, v6);
      routes.insert(route);
      const auto& gateway = v6 ? uplink.gateway_v6 : uplink.gateway_v4;
      // A link without a gateway leads to one other end.
      const bool point = !uplink.gateway_v4 && !uplink.gateway_v6 && !v6;
      if (uplink.link == 0 || (!gateway && !point)) continue;
      route = {.table = table, .to = route.to, .link = uplink.link, .gateway = gateway, .metric = kMetric};
      if (uplink.source && uplink.source->is_v4() != v6) route.source = uplink.source;
      routes.insert(route);
    }
  }
}

/// By the tables of slots, and by that of sites for as long as a packet has no mark.
class TunnelRoutes {
 public:
  TunnelRoutes(const WantedTunnels& wanted, const Slots& slots, std::set<Route>& routes)
      : wanted_(wanted), slots_(slots), routes_(routes) {}

  void add(const ReadyDevice& device) {
    const WantedPeer* const peer = peer_of(wanted_, wanted_.tunnels[device.tunnel].peer);
    if (peer == nullptr || device.link == 0) return;
    const Cidr overlay{peer->overlay, kWhole};
    routes_.insert({.table = kSiteTable,
                    .to = overlay,
                    .link = device.link,
                    .source = wanted_.overlay.address,
                    .metric = kOverlayMetric + static_cast<std::uint32_t>(device.link)});
    const std::uint32_t slot = slots_[device.tunnel];
    if (!device.carries || slot == 0) return;
    add(slot_table(slot), overlay, device);
    add(kSiteTable, overlay, device);
    for (const Cidr& prefix : peer->prefixes) {
      add(slot_table(slot), prefix, device);
      add(kSiteTable, prefix, device);
    }
  }

 private:
  void add(std::uint32_t table, const Cidr& to, const ReadyDevice& device) {
    // Of two sites with one network the first has it.
    if (!taken_.insert({table, to.address, to.prefix_length}).second) return;
    Route route{.table = table, .to = to, .link = device.link, .metric = kMetric, .mtu = device.mtu};
    if (to.address.is_v4() == wanted_.overlay.address.is_v4()) route.source = wanted_.overlay.address;
    routes_.insert(route);
  }

  const WantedTunnels& wanted_;
  const Slots& slots_;
  std::set<Route>& routes_;
  std::set<std::tuple<std::uint32_t, IpAddress, std::uint8_t>> taken_;
};

}  // namespace

Slots assign_slots(const WantedTunnels& wanted, KeptSlots& kept) {
  KeptSlots next;
  std::map<std::string, std::set<std::uint32_t>> taken;
  Slots slots(wanted.tunnels.size(), 0);
  for (std::size_t i = 0; i < wanted.tunnels.size(); ++i) {
    const std::string name = identity(wanted, wanted.tunnels[i]);
    const auto found = kept.find(name);
    if (found == kept.end() || !taken[wanted.tunnels[i].peer].insert(found->second).second) continue;
    slots[i] = next[name] = found->second;
  }
  for (std::size_t i = 0; i < wanted.tunnels.size(); ++i) {
    if (slots[i] != 0) continue;
    std::set<std::uint32_t>& used = taken[wanted.tunnels[i].peer];
    std::uint32_t slot = 1;
    while (used.contains(slot)) ++slot;
    // 0 stays: there is no number for it.
    if (slot > kMostTunnelsToASite) continue;
    used.insert(slot);
    slots[i] = next[identity(wanted, wanted.tunnels[i])] = slot;
  }
  kept = std::move(next);
  return slots;
}

std::uint32_t uplink_number(const WantedTunnels& wanted, const std::string& id) {
  std::vector<std::string> ids;
  for (const WantedUplink& uplink : wanted.uplinks) ids.push_back(uplink.id);
  std::ranges::sort(ids);
  const auto found = std::ranges::find(ids, id);
  const auto number = static_cast<std::size_t>(found - ids.begin()) + 1;
  return found == ids.end() || number > kMostUplinks ? 0 : static_cast<std::uint32_t>(number);
}

std::vector<PlannedDevice> plan_devices(const WantedTunnels& wanted, std::vector<std::string>& faults) {
  std::vector<PlannedDevice> devices;
  std::set<std::string> names;
  if (wanted.tunnels.size() > kMostTunnels) {
    faults.push_back("there are more than " + std::to_string(kMostTunnels) + " tunnels; the last are left out");
  }
  for (std::size_t i = 0; i < std::min(wanted.tunnels.size(), kMostTunnels); ++i) {
    const WantedTunnel& tunnel = wanted.tunnels[i];
    const WantedPeer* const peer = peer_of(wanted, tunnel.peer);
    if (peer == nullptr || peer->keys.empty() || wanted.private_keys.empty()) {
      faults.push_back("no key for a tunnel to " + tunnel.peer);
      continue;
    }
    for (const SiteKey& own : wanted.private_keys) {
      for (const SiteKey& other : peer->keys) {
        PlannedDevice device = plan_device(wanted, i, *peer, own, other);
        if (names.insert(device.name).second) devices.push_back(std::move(device));
      }
    }
  }
  return devices;
}

std::vector<Rule> plan_rules(const WantedTunnels& wanted, const Slots& slots) {
  std::vector<Rule> rules;
  if (wanted.site.empty()) return rules;
  for (const bool v6 : {false, true}) {
    rules.push_back({.v6 = v6, .preference = kDropRule, .mark = slot_mark(kDropSlot), .mask = kSlotMask, .table = 0});
    for (const WantedUplink& uplink : wanted.uplinks) {
      const std::uint32_t number = uplink_number(wanted, uplink.id);
      if (number == 0) continue;
      rules.push_back({v6, link_rule(number), link_mark(number), kLinkMask, link_table(number)});
    }
    for (std::uint32_t slot = 1; slot <= last_slot(slots); ++slot) {
      rules.push_back({v6, slot_rule(slot), slot_mark(slot), kSlotMask, slot_table(slot)});
    }
    rules.push_back({.v6 = v6, .preference = kSiteRule, .table = kSiteTable});
  }
  std::ranges::sort(rules);
  return rules;
}

std::vector<Route> plan_routes(const WantedTunnels& wanted, const Slots& slots, std::span<const ReadyDevice> devices,
                               std::span<const ReadyUplink> uplinks) {
  std::set<Route> routes;
  if (wanted.site.empty()) return {};
  for (std::uint32_t slot = 1; slot <= last_slot(slots); ++slot) {
    for (const bool v6 : {false, true}) routes.insert(unreachable(slot_table(slot), v6));
  }
  for (const Cidr& own : wanted.prefixes) {
    routes.insert({.table = kSiteTable, .to = own, .kind = RouteKind::kThrow, .metric = kOwnMetric});
  }
  add_uplink_routes(uplinks, routes);
  TunnelRoutes of_tunnels(wanted, slots, routes);
  std::vector<ReadyDevice> in_order(devices.begin(), devices.end());
  std::ranges::stable_sort(in_order, {}, [](const ReadyDevice& one) { return std::pair(!one.up, one.tunnel); });
  for (const ReadyDevice& device : in_order) of_tunnels.add(device);
  return {routes.begin(), routes.end()};
}

}  // namespace edge::agent::wan
