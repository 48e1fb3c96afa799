#include "controller/distribute/streams/link_message.h"

#include <algorithm>
#include <cstring>

#include "controller/distribute/protocol.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

constexpr int kMostLinks = 64;
constexpr int kMostTunnelReports = 4096;
constexpr int kMostPolicyReports = 16'384;
constexpr int kMostFaults = 32;
constexpr int kMostPaths = 64;
constexpr std::size_t kMaxWanName = 512;
constexpr std::size_t kMaxWanFault = 1024;

std::optional<IpAddress> read_wan_ip(const std::string& bytes) {
  IpAddress address;
  if (bytes.size() != address.bytes.size()) return std::nullopt;
  std::memcpy(address.bytes.data(), bytes.data(), bytes.size());
  return address;
}

std::string name(const std::string& text) { return printable(text, kMaxWanName); }

WanQuality read_quality(const agent::v1::PathQuality& from) {
  WanQuality quality{.measured = from.measured(),
                     .alive = from.alive(),
                     .fault = name(from.fault()),
                     .since_ms = from.since_ms(),
                     .probes = from.probes(),
                     .loss = from.loss(),
                     .latency = from.latency_us(),
                     .latency_p95 = from.latency_p95_us(),
                     .jitter = from.jitter_us(),
                     .forward_jitter = from.forward_jitter_us(),
                     .backward_jitter = from.backward_jitter_us(),
                     .last_probe_ms = from.last_probe_ms()};
  if (from.has_forward_loss()) quality.forward_loss = from.forward_loss();
  if (from.has_backward_loss()) quality.backward_loss = from.backward_loss();
  return quality;
}

WanTunnelState read_tunnel(const agent::v1::TunnelReport& from) {
  WanTunnelState tunnel{.link = name(from.link()),
                        .peer_site = name(from.peer_site()),
                        .peer_link = name(from.peer_link()),
                        .interface = name(from.interface()),
                        .up = from.up(),
                        .handshake_ms = from.handshake_ms(),
                        .mtu = from.mtu(),
                        .received_bytes = from.received_bytes(),
                        .sent_bytes = from.sent_bytes(),
                        .fault = printable(from.fault(), kMaxWanFault),
                        .quality = read_quality(from.quality())};
  tunnel.endpoint = read_wan_ip(from.endpoint().address());
  tunnel.endpoint_port = from.endpoint().port();
  return tunnel;
}

template <typename List>
std::vector<WanPath> read_paths(const List& from) {
  std::vector<WanPath> paths;
  for (int i = 0; i < std::min(from.size(), kMostPaths); ++i) {
    paths.push_back({name(from[i].link()), name(from[i].peer_link())});
  }
  return paths;
}

WanPolicyState read_policy(const agent::v1::PolicyReport& from) {
  return {.policy = name(from.policy()),
          .peer_site = name(from.peer_site()),
          .paths = read_paths(from.paths()),
          .best_effort = from.best_effort(),
          .dropped = from.dropped(),
          .since_ms = from.since_ms(),
          .cause = name(from.cause()),
          .fault = name(from.fault()),
          .before = read_paths(from.before()),
          .moves = from.moves()};
}

}  // namespace

const SiteLinks* site_of_agent(const std::vector<SiteLinks>& sites, const Labels& own, const Labels& of_node) {
  Labels labels = own;
  labels.insert(of_node.begin(), of_node.end());
  const auto found = std::ranges::find_if(
      sites, [&](const SiteLinks& site) { return !site.node_selector.empty() && selects(site.node_selector, labels); });
  return found == sites.end() ? nullptr : &*found;
}

void write_links(const SiteLinks* site, std::uint64_t version, agent::v1::LinksDown& into) {
  if (site != nullptr) into.ParseFromString(site->message);
  into.set_version(version);
}

WanReport read_links_report(const agent::v1::LinksReport& from) {
  WanReport report{.active = from.active()};
  for (int i = 0; i < std::min(from.links_size(), kMostLinks); ++i) {
    const auto& link = from.links(i);
    report.links.push_back(
        {name(link.link()), name(link.interface()), read_wan_ip(link.address()), read_quality(link.quality())});
  }
  for (int i = 0; i < std::min(from.tunnels_size(), kMostTunnelReports); ++i) {
    report.tunnels.push_back(read_tunnel(from.tunnels(i)));
  }
  for (int i = 0; i < std::min(from.policies_size(), kMostPolicyReports); ++i) {
    report.policies.push_back(read_policy(from.policies(i)));
  }
  for (int i = 0; i < std::min(from.faults_size(), kMostFaults); ++i) {
    report.faults.push_back(printable(from.faults(i), kMaxWanFault));
  }
  return report;
}

}  // namespace edge::controller
