#include "controller/sdwan/wan_plan.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/hash.h"
#include "base/text/base64.h"
#include "compiler/link/wan/steering.h"
#include "controller/sdwan/wan_keys.h"
#include "schemas/agent.pb.h"

namespace edge::controller::sdwan {
namespace {

namespace v1 = agent::v1;
using compiler::LinkedSite;
using compiler::LinkedWan;
using compiler::LinkedWanLink;
using compiler::LinkedWanPolicy;
using std::chrono::nanoseconds;

constexpr std::uint32_t kReflectorPort = 862;  // RFC 8762
constexpr std::uint32_t kPortsOfTunnel = 4;
constexpr std::uint32_t kPorts = 65'536;

std::string name_of(const compiler::Identity& id) { return id.name_space + "/" + id.name; }

std::string bytes_of(const IpAddress& address) { return {address.bytes.begin(), address.bytes.end()}; }

void write_network(const Cidr& from, v1::WanNetwork& into) {
  into.set_address(bytes_of(from.address));
  into.set_prefix_length(from.prefix_length);
}

std::uint32_t microseconds(nanoseconds time) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count() / 1000, 0, UINT32_MAX));
}

std::uint32_t milliseconds(nanoseconds time) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count() / 1'000'000, 0, UINT32_MAX));
}

void write_limits(const compiler::LinkedLimits& from, v1::WanLimits& into) {
  if (from.loss) into.set_loss(*from.loss);
  if (from.latency) into.set_latency_us(microseconds(*from.latency));
  if (from.jitter) into.set_jitter_us(microseconds(*from.jitter));
}

void write_link(const LinkedWanLink& from, v1::WanLink& into) {
  into.set_link(name_of(from.id));
  into.set_enabled(from.enabled);
  into.set_interface(from.interface);
  if (from.address) into.set_address(bytes_of(*from.address));
  if (from.gateway) into.set_gateway(bytes_of(*from.gateway));
  into.set_up_mbps(from.up_mbps);
  into.set_down_mbps(from.down_mbps);
  into.set_metered(from.metered);
  into.set_backup(from.backup);
  into.set_cost(static_cast<std::uint32_t>(from.cost));
  into.set_probe(static_cast<v1::WanLink::Probe>(from.probe));
  for (const IpAddress& target : from.targets) into.add_targets(bytes_of(target));
  into.set_target_port(from.target_port);
  into.set_interval_us(microseconds(from.interval));
  into.set_timeout_us(microseconds(from.timeout));
  into.set_window(from.window);
  write_limits(from.limits, *into.mutable_limits());
}

v1::WanPolicy::TrafficClass class_of(compiler::WanClass from) {
  switch (from) {
    case compiler::WanClass::kVoice:
      return v1::WanPolicy::VOICE;
    case compiler::WanClass::kDefault:
      return v1::WanPolicy::DEFAULT;
    case compiler::WanClass::kBulk:
      return v1::WanPolicy::BULK;
    case compiler::WanClass::kByDscp:
      break;
  }
  return v1::WanPolicy::BY_DSCP;
}

/// One end of a tunnel.
struct End {
  std::uint32_t link = 0;       ///< of LinkedWan::links, at this site
  std::uint32_t peer_link = 0;  ///< at the other
  std::uint64_t hash = 0;
  std::optional<std::uint32_t> slot{};  ///< of the site's ports; none: there are too many tunnels
};

class Planner {
 public:
  Planner(const LinkedWan& wan, const WanFacts& facts)
      : wan_(wan),
        facts_(facts),
        table_(make_steering(wan)),
        private_(wan.sites.size()),
        public_(wan.sites.size()),
        faults_(wan.sites.size()),
        ends_(wan.sites.size()),
        places_(wan.sites.size()) {
    has_hub_ = std::ranges::any_of(wan.sites, [](const LinkedSite& site) { return site.hub && site.overlay; });
    for (std::uint32_t site = 0; site < wan.sites.size(); ++site) make_keys(site);
    for (std::uint32_t site = 0; site < wan.sites.size(); ++site) make_ends(site);
  }

  std::vector<SiteLinks> plan() {
    std::vector<SiteLinks> all;
    for (std::uint32_t site = 0; site < wan_.sites.size(); ++site) {
      if (wan_.sites[site].node_selector.empty() || wan_.sites[site].remote) continue;
      all.push_back({.site = name_of(wan_.sites[site].id), .node_selector = wan_.sites[site].node_selector});
      v1::LinksDown down;
      write(site, down);
      all.back().fault = faults_[site];
      all.back().message = down.SerializeAsString();
    }
    return all;
  }

 private:
  void make_keys(std::uint32_t site) {
    const LinkedSite& from = wan_.sites[site];
    if (!from.overlay) return;
    std::vector<TunnelKey>& own = private_[site];
    if (!from.overlay->key_secret.first.empty()) {
      const auto given = facts_.given_keys.find(from.overlay->key_secret);
      if (given != facts_.given_keys.end()) own = {{.epoch = 0, .bytes = given->second}};
      if (own.empty()) faults_[site] = "the Secret of `overlay.keySecretRef` has no WireGuard key in `private-key`";
    } else if (from.overlay->public_key.empty()) {
      own = private_keys(facts_.master, name_of(from.id), facts_.now);
    } else if (!from.remote) {
      faults_[site] = "`overlay.publicKey` needs `overlay.keySecretRef`, which has the other half of it";
    }
    for (const TunnelKey& key : own) public_[site].push_back({key.epoch, public_key_of(key.bytes)});
    if (from.overlay->public_key.empty()) return;
    const auto said = from_base64(from.overlay->public_key);
    if (!said) return;
    if (own.empty()) {
      public_[site] = {{.epoch = 0, .bytes = *said}};
    } else if (public_[site].back().bytes != *said) {
      faults_[site] = "`overlay.publicKey` is not that of the key in `overlay.keySecretRef`";
      own.clear();
      public_[site].clear();
    }
  }

  /// A site between others is a hub; without any every site has tunnels to every other.
  bool joined(std::uint32_t one, std::uint32_t other) const {
    const LinkedSite& a = wan_.sites[one];
    const LinkedSite& b = wan_.sites[other];
    return one != other && !public_[one].empty() && !public_[other].empty() && (!has_hub_ || a.hub || b.hub);
  }

  void make_ends(std::uint32_t site) {
    if (!wan_.sites[site].overlay) return;
    std::vector<End>& ends = ends_[site];
    for (std::uint32_t peer = 0; peer < wan_.sites.size(); ++peer) {
      if (!joined(site, peer)) continue;
      for (const std::uint32_t own : table_.links[site]) {
        for (const std::uint32_t other : table_.links[peer]) {
          if (!wan_.links[own].enabled || !wan_.links[other].enabled) continue;
          const std::string pair = name_of(wan_.links[own].id) + " " + name_of(wan_.links[other].id);
          ends.push_back({own, other, hash_bytes(1, pair)});
        }
      }
    }
    take_slots(site, ends);
  }

  /// By the hash of their names, so that a tunnel keeps its port when others come and go, but for a few that meet.
  void take_slots(std::uint32_t site, std::vector<End>& ends) {
    const std::uint32_t slots =
        std::min<std::uint32_t>(kMostTunnels, (kPorts - wan_.sites[site].overlay->port) / kPortsOfTunnel);
    std::vector<std::size_t> order(ends.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return std::tuple(ends[i].hash, name_of(wan_.links[ends[i].link].id), name_of(wan_.links[ends[i].peer_link].id));
    });
    std::vector<bool> taken(slots);
    for (std::size_t i = 0; i < order.size() && i < slots; ++i) {
      auto slot = static_cast<std::uint32_t>(ends[order[i]].hash % slots);
      while (taken[slot]) slot = (slot + 1) % slots;
      taken[slot] = true;
      ends[order[i]].slot = slot;
    }
    if (ends.size() > slots && faults_[site].empty()) {
      faults_[site] = "there are " + std::to_string(ends.size()) + " pairs of links, and ports for " +
                      std::to_string(slots) + " tunnels from `overlay.port` on: let fewer sites be hubs";
    }
    for (const End& end : ends) places_[site].emplace(std::pair(end.link, end.peer_link), end.slot);
  }

  std::uint32_t port_of(std::uint32_t site, std::uint32_t slot) const {
    return wan_.sites[site].overlay->port + slot * kPortsOfTunnel;
  }

  /// What the resource says is not corrected by what was found.
  std::vector<IpAddress> addresses_of(const LinkedWanLink& link) const {
    if (link.address) return {*link.address};
    const auto found = facts_.found.find(name_of(link.id));
    return found == facts_.found.end() ? std::vector<IpAddress>() : found->second;
  }

  void write(std::uint32_t site, v1::LinksDown& down) {
    const LinkedSite& from = wan_.sites[site];
    v1::WanSite& own = *down.mutable_site();
    own.set_site(name_of(from.id));
    own.set_reflector_port(kReflectorPort);
    own.set_fault(faults_[site]);
    for (const Cidr& prefix : from.prefixes) write_network(prefix, *own.add_prefixes());
    for (const std::uint32_t link : table_.links[site]) write_link(wan_.links[link], *down.add_links());
    write_policies(site, down);
    if (!from.overlay || private_[site].empty()) return;
    own.set_overlay_address(bytes_of(from.overlay->address));
    own.set_overlay_prefix_length(from.overlay->prefix_length);
    own.set_mtu(from.overlay->mtu);
    for (const TunnelKey& key : private_[site]) write_key(key, *own.add_private_keys());
    write_peers(site, down);
    for (const End& end : ends_[site]) write_tunnel(site, end, down);
  }

  static void write_key(const TunnelKey& from, v1::WanKey& into) {
    into.set_epoch(from.epoch);
    into.set_key(from.bytes);
  }

  void write_peers(std::uint32_t site, v1::LinksDown& down) const {
    for (std::uint32_t peer = 0; peer < wan_.sites.size(); ++peer) {
      if (!joined(site, peer) || !wan_.sites[peer].overlay) continue;
      v1::WanPeer& into = *down.add_peers();
      into.set_site(name_of(wan_.sites[peer].id));
      into.set_overlay_address(bytes_of(wan_.sites[peer].overlay->address));
      for (const TunnelKey& key : public_[peer]) write_key(key, *into.add_public_keys());
      for (const Cidr& prefix : wan_.sites[peer].prefixes) write_network(prefix, *into.add_prefixes());
      if (!wan_.sites[peer].hub) continue;
      for (std::uint32_t behind = 0; behind < wan_.sites.size(); ++behind) {
        if (behind == site || joined(site, behind) || !joined(peer, behind)) continue;
        for (const Cidr& prefix : wan_.sites[behind].prefixes) write_network(prefix, *into.add_prefixes());
        // What a node of that site sends itself comes from there.
        if (wan_.sites[behind].overlay) write_network({wan_.sites[behind].overlay->address, 128}, *into.add_prefixes());
      }
    }
  }

  void write_tunnel(std::uint32_t site, const End& end, v1::LinksDown& down) const {
    const LinkedWanLink& link = wan_.links[end.link];
    const LinkedWanLink& peer_link = wan_.links[end.peer_link];
    const auto place = places_[peer_link.site].find({end.peer_link, end.link});
    if (!end.slot || place == places_[peer_link.site].end() || !place->second) return;
    const std::uint32_t peer_slot = *place->second;
    v1::WanTunnel& tunnel = *down.add_tunnels();
    tunnel.set_link(name_of(link.id));
    tunnel.set_peer_site(name_of(wan_.sites[peer_link.site].id));
    tunnel.set_peer_link(name_of(peer_link.id));
    tunnel.set_port(port_of(site, *end.slot));
    for (const IpAddress& address : addresses_of(peer_link)) {
      v1::WanEndpoint& endpoint = *tunnel.add_endpoints();
      endpoint.set_address(bytes_of(address));
      endpoint.set_port(port_of(peer_link.site, peer_slot));
    }
    tunnel.set_query_session(peer_slot + 1);
    tunnel.set_query_key(measure_key(link, peer_link));
    tunnel.set_answer_session(*end.slot + 1);
    tunnel.set_answer_key(measure_key(peer_link, link));
  }

  /// Of the session in which `asks` asks: a packet of the other way is none of this.
  std::string measure_key(const LinkedWanLink& asks, const LinkedWanLink& answers) const {
    return derived_key(facts_.master, "measures of " + name_of(asks.id) + " " + name_of(answers.id));
  }

  void write_policies(std::uint32_t site, v1::LinksDown& down) const {
    std::map<std::uint32_t, std::uint32_t> positions;
    for (const compiler::SteeringRule& rule : table_.rules[site]) {
      const auto [position, fresh] = positions.emplace(rule.policy, static_cast<std::uint32_t>(positions.size()));
      if (fresh) write_policy(site, rule.policy, *down.add_policies());
      v1::WanRule& into = *down.add_rules();
      into.set_policy(position->second);
      for (const Cidr& network : rule.traffic.sources) write_network(network, *into.add_sources());
      for (const Cidr& network : rule.traffic.destinations) write_network(network, *into.add_destinations());
      for (const auto protocol : rule.traffic.protocols) {
        into.add_protocols(static_cast<v1::WanRule::Protocol>(protocol));
      }
      for (const std::uint16_t port : rule.traffic.ports) into.add_ports(port);
      for (const std::uint8_t dscp : rule.traffic.dscp) into.add_dscp(dscp);
      for (const std::string& gateway : rule.traffic.gateways) into.add_gateways(gateway);
    }
  }

  void write_policy(std::uint32_t site, std::uint32_t policy, v1::WanPolicy& into) const {
    const LinkedWanPolicy& from = wan_.policies[policy];
    into.set_policy(name_of(from.id));
    into.set_strategy(from.strategy == "LowestLatency" ? v1::WanPolicy::LOWEST_LATENCY
                      : from.strategy == "LowestLoss"  ? v1::WanPolicy::LOWEST_LOSS
                      : from.strategy == "LoadBalance" ? v1::WanPolicy::LOAD_BALANCE
                                                       : v1::WanPolicy::PREFERRED);
    into.set_drops(from.drops);
    into.set_after_ms(milliseconds(from.after));
    into.set_back_after_ms(milliseconds(from.back_after));
    write_limits(from.limits, *into.mutable_limits());
    if (from.set_dscp) into.set_set_dscp(*from.set_dscp);
    into.set_traffic_class(class_of(from.traffic_class));
    for (const std::uint32_t link : allowed_links(wan_, table_, site, policy)) {
      into.add_links(name_of(wan_.links[link].id));
    }
  }

  const LinkedWan& wan_;
  const WanFacts& facts_;
  const compiler::SteeringTable table_;
  bool has_hub_ = false;
  std::vector<std::vector<TunnelKey>> private_;  ///< by site
  std::vector<std::vector<TunnelKey>> public_;   ///< likewise; none: no tunnel leads to it
  std::vector<std::string> faults_;
  std::vector<std::vector<End>> ends_;
  /// By site, of each pair of its link and another's.
  std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<std::uint32_t>>> places_;
};

}  // namespace

std::vector<SiteLinks> plan_wan(const LinkedWan& wan, const WanFacts& facts) { return Planner(wan, facts).plan(); }

}  // namespace edge::controller::sdwan
