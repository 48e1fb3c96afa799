#include "agent/sync/received_links.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using wan::Limits;
using wan::Time;

constexpr int kMostLinks = 64;
constexpr int kMostPeers = 1024;
constexpr int kMostTunnels = 4096;
constexpr int kMostPolicies = 1024;
constexpr int kMostRules = 16'384;
constexpr int kMostTargets = 16;
constexpr std::size_t kKeyBytes = 32;
constexpr double kOfLoss = 100'000;
/// A port, or the number of a session.
constexpr std::uint32_t kMostPort = 65'535;
constexpr std::uint32_t kMostSession = wan::kOutsideSession - 1;
constexpr auto kShortestInterval = milliseconds(5);

std::optional<IpAddress> ip_of(const std::string& bytes) {
  IpAddress address;
  if (bytes.size() != address.bytes.size()) return std::nullopt;
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  return address;
}

template <typename List>
std::vector<Cidr> networks_of(const List& from) {
  std::vector<Cidr> networks;
  for (const auto& one : from) {
    const auto address = ip_of(one.address());
    if (address && one.prefix_length() <= 128) {
      networks.push_back({*address, static_cast<std::uint8_t>(one.prefix_length())});
    }
  }
  return networks;
}

template <typename List>
std::vector<wan::SiteKey> keys_of(const List& from) {
  std::vector<wan::SiteKey> keys;
  for (const auto& one : from) {
    wan::SiteKey key{.epoch = one.epoch()};
    if (one.key().size() != key.key.size() || keys.size() >= 2) continue;
    std::memcpy(key.key.data(), one.key().data(), key.key.size());
    keys.push_back(key);
  }
  return keys;
}

Limits limits_of(const v1::WanLimits& from) {
  Limits limits;
  // None and all are no rates that a test could tell from others.
  if (from.has_loss()) limits.loss = std::clamp(from.loss() / kOfLoss, 1 / kOfLoss, 0.99);
  if (from.has_latency_us()) limits.latency = microseconds(from.latency_us());
  if (from.has_jitter_us()) limits.jitter = microseconds(from.jitter_us());
  return limits;
}

wan::ProbeSettings probe_of(const v1::WanLink& from) {
  wan::ProbeSettings probe;
  if (from.interval_us() > 0) probe.interval = std::max<Time>(microseconds(from.interval_us()), kShortestInterval);
  if (from.timeout_us() > 0) probe.timeout = microseconds(from.timeout_us());
  if (from.window() > 0) probe.window = std::clamp(from.window(), 2U, 10'000U);
  return probe;
}

void read_link(const v1::WanLink& from, wan::SiteAssignment& into) {
  // An address of the resource is the public one, which the node need not have.
  into.node.tunnels.uplinks.push_back({.id = from.link(),
                                       .interface = from.interface(),
                                       .gateway = ip_of(from.gateway()),
                                       .up_mbps = from.up_mbps(),
                                       .down_mbps = from.down_mbps()});
  wan::MeasuredLink& link = into.measured.links.emplace_back();
  link.id = from.link();
  link.enabled = from.enabled();
  link.metered = from.metered();
  link.backup = from.backup();
  link.up_mbps = from.up_mbps();
  link.interface = from.interface();
  link.kind = from.probe() == v1::WanLink::ICMP  ? wan::ProbeKind::kIcmp
              : from.probe() == v1::WanLink::TCP ? wan::ProbeKind::kTcp
                                                 : wan::ProbeKind::kStamp;
  for (int i = 0; i < std::min(from.targets_size(), kMostTargets); ++i) {
    if (const auto target = ip_of(from.targets(i))) link.targets.push_back(*target);
  }
  link.target_port = static_cast<std::uint16_t>(std::min(from.target_port(), kMostPort));
  link.probe = probe_of(from);
  link.limits = limits_of(from.limits());
}

bool is_sound(const v1::WanTunnel& from) {
  return from.port() > 0 && from.port() <= kMostPort && from.query_session() > 0 &&
         from.query_session() <= kMostSession && from.answer_session() > 0 && from.answer_session() <= kMostSession &&
         from.query_key().size() == kKeyBytes && from.answer_key().size() == kKeyBytes;
}

void read_tunnel(const v1::WanTunnel& from, const IpAddress& peer_overlay, wan::SiteAssignment& into) {
  wan::WantedTunnel& tunnel = into.node.tunnels.tunnels.emplace_back();
  tunnel.link = from.link();
  tunnel.peer = from.peer_site();
  tunnel.peer_link = from.peer_link();
  tunnel.port = static_cast<std::uint16_t>(from.port());
  for (const v1::WanEndpoint& one : from.endpoints()) {
    const auto address = ip_of(one.address());
    if (address && one.port() > 0 && one.port() <= kMostPort) {
      tunnel.endpoints.push_back({*address, static_cast<std::uint16_t>(one.port())});
    }
  }
  wan::MeasuredTunnel& measured = into.measured.tunnels.emplace_back();
  measured.link = from.link();
  measured.peer_site = from.peer_site();
  measured.peer_link = from.peer_link();
  measured.peer_overlay = peer_overlay;
  if (!tunnel.endpoints.empty()) measured.outside = tunnel.endpoints.front().address;
  measured.query_session = static_cast<std::uint16_t>(from.query_session());
  measured.query_key = from.query_key();
  measured.answer_session = static_cast<std::uint16_t>(from.answer_session());
  measured.answer_key = from.answer_key();
}

wan::Strategy strategy_of(v1::WanPolicy::Strategy from) {
  switch (from) {
    case v1::WanPolicy::LOWEST_LATENCY:
      return wan::Strategy::kLowestLatency;
    case v1::WanPolicy::LOWEST_LOSS:
      return wan::Strategy::kLowestLoss;
    case v1::WanPolicy::LOAD_BALANCE:
      return wan::Strategy::kLoadBalance;
    default:
      return wan::Strategy::kPreferred;
  }
}

void read_policy(const v1::WanPolicy& from, wan::SiteAssignment& into) {
  wan::WantedPolicy& policy = into.node.policies.emplace_back();
  policy.id = from.policy();
  policy.drops = from.drops();
  policy.links.assign(from.links().begin(), from.links().end());
  constexpr std::uint32_t kMostDscp = 63;
  if (from.has_set_dscp() && from.set_dscp() <= kMostDscp) policy.dscp = static_cast<std::uint8_t>(from.set_dscp());
  if (from.traffic_class() == v1::WanPolicy::VOICE) policy.traffic_class = wan::TrafficClass::kVoice;
  if (from.traffic_class() == v1::WanPolicy::DEFAULT) policy.traffic_class = wan::TrafficClass::kDefault;
  if (from.traffic_class() == v1::WanPolicy::BULK) policy.traffic_class = wan::TrafficClass::kBulk;
  wan::MeasuredPolicy& measured = into.measured.policies.emplace_back();
  measured.id = from.policy();
  measured.settings = {.strategy = strategy_of(from.strategy()),
                       .fallback = from.drops() ? wan::Fallback::kDrop : wan::Fallback::kBestEffort,
                       .after = milliseconds(from.after_ms()),
                       .back_after = milliseconds(from.back_after_ms())};
  measured.limits = limits_of(from.limits());
  measured.links = policy.links;
}

void read_rule(const v1::WanRule& from, std::size_t policies, wan::SiteAssignment& into) {
  if (from.policy() >= policies) return;
  wan::WantedRule& rule = into.node.rules.emplace_back();
  rule.policy = from.policy();
  rule.sources = networks_of(from.sources());
  rule.destinations = networks_of(from.destinations());
  for (const int protocol : from.protocols()) {
    if (protocol == v1::WanRule::TCP) rule.protocols.push_back(wan::SteerProtocol::kTcp);
    if (protocol == v1::WanRule::UDP) rule.protocols.push_back(wan::SteerProtocol::kUdp);
    if (protocol == v1::WanRule::ICMP) rule.protocols.push_back(wan::SteerProtocol::kIcmp);
  }
  for (const std::uint32_t port : from.ports()) rule.ports.push_back(static_cast<std::uint16_t>(port));
  for (const std::uint32_t dscp : from.dscp()) rule.dscp.push_back(static_cast<std::uint8_t>(dscp));
  rule.gateways.assign(from.gateways().begin(), from.gateways().end());
}

/// What no policy is for takes the links in their own order.
void add_last_policy(const v1::LinksDown& down, wan::SiteAssignment& into) {
  std::vector<std::string> links;
  for (const v1::WanLink& link : down.links()) {
    if (link.enabled()) links.push_back(link.link());
  }
  into.node.policies.push_back({.id = {}, .links = links});
  into.measured.policies.push_back({.id = {}, .settings = {}, .limits = {}, .links = std::move(links)});
}

}  // namespace

Result<wan::SiteAssignment> read_links(const std::string& message) {
  v1::LinksDown down;
  if (!down.ParseFromString(message)) return Error{ErrorCode::kInvalidArgument, "an assignment that is none"};
  if (down.links_size() > kMostLinks || down.peers_size() > kMostPeers || down.tunnels_size() > kMostTunnels ||
      down.policies_size() > kMostPolicies || down.rules_size() > kMostRules) {
    return Error{ErrorCode::kResourceExhausted, "too many links, tunnels or policies"};
  }
  wan::SiteAssignment all{.version = down.version(), .fault = down.site().fault()};
  if (!down.has_site() || down.site().site().empty()) return all;
  const v1::WanSite& site = down.site();
  all.node.tunnels.site = site.site();
  if (const auto overlay = ip_of(site.overlay_address())) {
    all.node.tunnels.overlay = {*overlay, static_cast<std::uint8_t>(std::min(site.overlay_prefix_length(), 128U))};
    all.measured.overlay = overlay;
  }
  if (site.mtu() > 0) all.node.tunnels.mtu = static_cast<std::uint16_t>(std::min(site.mtu(), 9216U));
  all.node.tunnels.prefixes = networks_of(site.prefixes());
  all.node.tunnels.private_keys = keys_of(site.private_keys());
  if (site.reflector_port() > 0 && site.reflector_port() <= kMostPort) {
    all.measured.reflector_port = static_cast<std::uint16_t>(site.reflector_port());
  }
  for (const v1::WanLink& link : down.links()) read_link(link, all);
  std::map<std::string, IpAddress> overlays;
  for (const v1::WanPeer& from : down.peers()) {
    const auto overlay = ip_of(from.overlay_address());
    if (!overlay) continue;
    overlays.emplace(from.site(), *overlay);
    all.node.tunnels.peers.push_back({.id = from.site(),
                                      .overlay = *overlay,
                                      .prefixes = networks_of(from.prefixes()),
                                      .keys = keys_of(from.public_keys())});
  }
  for (const v1::WanTunnel& tunnel : down.tunnels()) {
    const auto overlay = overlays.find(tunnel.peer_site());
    if (overlay != overlays.end() && is_sound(tunnel)) read_tunnel(tunnel, overlay->second, all);
  }
  for (const v1::WanPolicy& policy : down.policies()) read_policy(policy, all);
  for (const v1::WanRule& rule : down.rules()) read_rule(rule, static_cast<std::size_t>(down.policies_size()), all);
  add_last_policy(down, all);
  return all;
}

namespace {

std::uint32_t share_of(double loss) { return static_cast<std::uint32_t>(std::clamp(loss, 0.0, 1.0) * kOfLoss + 0.5); }
std::uint32_t us(Time time) { return static_cast<std::uint32_t>(std::max<std::int64_t>(0, time.count() / 1000)); }

void write_quality(const wan::PathReport& from, v1::PathQuality& into) {
  into.set_measured(from.measured);
  into.set_alive(from.alive);
  into.set_fault(std::string(to_string(from.fault)));
  into.set_since_ms(from.since_ms);
  into.set_probes(from.quality.probes);
  into.set_loss(share_of(from.quality.loss));
  if (from.quality.forward_loss) into.set_forward_loss(share_of(*from.quality.forward_loss));
  if (from.quality.backward_loss) into.set_backward_loss(share_of(*from.quality.backward_loss));
  into.set_latency_us(us(from.quality.latency));
  into.set_latency_p95_us(us(from.quality.latency_p95));
  into.set_jitter_us(us(from.quality.jitter));
  into.set_forward_jitter_us(us(from.quality.forward_jitter));
  into.set_backward_jitter_us(us(from.quality.backward_jitter));
  into.set_last_probe_ms(from.last_answer_ms);
}

void write_tunnel(const wan::MeasuredTunnel& from, const wan::PathReport* path, const wan::TunnelState* tunnel,
                  v1::TunnelReport& into) {
  into.set_link(from.link);
  into.set_peer_site(from.peer_site);
  into.set_peer_link(from.peer_link);
  if (path != nullptr) write_quality(*path, *into.mutable_quality());
  if (tunnel == nullptr) return;
  into.set_interface(tunnel->interface);
  into.set_up(tunnel->up);
  if (tunnel->handshake) into.set_handshake_ms(milliseconds(*tunnel->handshake).count());
  if (tunnel->endpoint) {
    const IpAddress& address = tunnel->endpoint->address;
    into.mutable_endpoint()->set_address(std::string(address.bytes.begin(), address.bytes.end()));
    into.mutable_endpoint()->set_port(tunnel->endpoint->port);
  }
  into.set_mtu(tunnel->mtu);
  into.set_received_bytes(tunnel->received);
  into.set_sent_bytes(tunnel->sent);
  into.set_fault(tunnel->fault);
}

void write_policy(const wan::PolicyReport& from, const wan::Measured& measured, v1::PolicyReport& into) {
  into.set_policy(from.policy);
  into.set_peer_site(from.peer_site);
  const auto write = [&](const std::vector<std::size_t>& tunnels, auto add) {
    for (const std::size_t tunnel : tunnels) {
      if (tunnel >= measured.tunnels.size()) continue;
      v1::PolicyPath& path = *add();
      path.set_link(measured.tunnels[tunnel].link);
      path.set_peer_link(measured.tunnels[tunnel].peer_link);
    }
  };
  write(from.tunnels, [&] { return into.add_paths(); });
  write(from.before, [&] { return into.add_before(); });
  into.set_best_effort(from.best_effort);
  into.set_dropped(from.dropped);
  into.set_since_ms(from.since_ms);
  into.set_cause(std::string(to_string(from.cause)));
  into.set_fault(std::string(to_string(from.fault)));
  into.set_moves(from.moves);
}

}  // namespace

void write_links_report(const wan::SiteState& state, v1::LinksReport& into) {
  into.set_active(state.active);
  for (const std::string& fault : state.faults) into.add_faults(fault);
  if (!state.active) return;
  const wan::Measured& measured = state.assignment.measured;
  for (std::size_t i = 0; i < measured.links.size(); ++i) {
    v1::LinkReport& link = *into.add_links();
    link.set_link(measured.links[i].id);
    link.set_interface(measured.links[i].interface);
    if (const auto own = wan::interface_address(measured.links[i].interface)) {
      link.set_address(std::string(own->bytes.begin(), own->bytes.end()));
    }
    if (i < state.measured.links.size()) write_quality(state.measured.links[i], *link.mutable_quality());
  }
  for (std::size_t i = 0; i < measured.tunnels.size(); ++i) {
    const wan::PathReport* const path = i < state.measured.tunnels.size() ? &state.measured.tunnels[i] : nullptr;
    const auto& tunnels = state.node.tunnels.tunnels;
    const bool same = i < tunnels.size() && tunnels[i].link == measured.tunnels[i].link &&
                      tunnels[i].peer_link == measured.tunnels[i].peer_link;
    write_tunnel(measured.tunnels[i], path, same ? &tunnels[i] : nullptr, *into.add_tunnels());
  }
  for (const wan::PolicyReport& policy : state.measured.policies) {
    write_policy(policy, measured, *into.add_policies());
  }
}

}  // namespace edge::agent
