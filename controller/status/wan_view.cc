#include "controller/status/wan_view.h"

#include <algorithm>
#include <set>
#include <utility>

namespace edge::controller {
namespace {

bool is_healthy(const WanQuality& quality) { return quality.measured && quality.alive && quality.fault.empty(); }

WanSiteView site_view(const WanReport& report) {
  WanSiteView view;
  std::set<std::string> up;
  std::set<std::string> all;
  for (const WanTunnelState& tunnel : report.tunnels) {
    all.insert(tunnel.peer_site);
    if (tunnel.quality.alive) up.insert(tunnel.peer_site);
  }
  view.peers.assign(up.begin(), up.end());
  std::ranges::set_difference(all, up, std::back_inserter(view.lost));
  view.links = static_cast<std::uint32_t>(report.links.size());
  view.healthy_links = static_cast<std::uint32_t>(
      std::ranges::count_if(report.links, [](const WanLinkState& link) { return is_healthy(link.quality); }));
  view.faults = report.faults;
  view.tunnels = report.tunnels;
  return view;
}

std::pair<const char*, std::string> why_down(const WanTunnelState& tunnel) {
  if (!tunnel.fault.empty()) return {"Failed", tunnel.fault};
  if (tunnel.handshake_ms == 0) return {"NoHandshake", "no handshake was answered"};
  if (!tunnel.up) return {"KeyNotRenewed", "the key of its session was not renewed, no handshake is answered"};
  return {"NoAnswers", "no probe is answered"};
}

/// Probes decide: they notice within a second what WireGuard does after three minutes, and do not go by the wall clock.
void add_tunnels(const std::string& site, const WanReport& report, std::map<std::string, WanLinkView>& links) {
  for (const WanTunnelState& tunnel : report.tunnels) {
    const auto link = links.find(tunnel.link);
    if (link == links.end() || link->second.site != site || !tunnel.quality.measured) continue;
    WanTunnelEnd to{tunnel.peer_site, tunnel.peer_link};
    if (tunnel.quality.alive) {
      link->second.up.push_back(std::move(to));
    } else {
      auto [reason, message] = why_down(tunnel);
      link->second.down.push_back({std::move(to), reason, std::move(message), tunnel.quality.since_ms});
    }
  }
  for (const WanLinkState& of : report.links) {
    WanLinkView& link = links.at(of.link);
    std::ranges::sort(link.up);
    std::ranges::sort(link.down, {}, &WanDownTunnel::to);
  }
}

}  // namespace

WanView wan_view_of(const std::vector<AgentWan>& all) {
  WanView view;
  std::map<std::string, std::vector<std::string>> agents;
  for (const AgentWan& one : all) agents[one.site].push_back(one.agent);
  for (const AgentWan& one : all) {
    WanSiteView& site = view.sites[one.site];
    // Two hold it while one has yet to hear of the other: the first is shown.
    if (one.report.active && site.agent.empty()) {
      site = site_view(one.report);
      site.agent = one.agent;
      site.node = one.node;
      for (const WanLinkState& link : one.report.links) view.links[link.link] = {one.site, link};
      add_tunnels(one.site, one.report, view.links);
      for (const WanPolicyState& policy : one.report.policies)
        view.policies[policy.policy].push_back({one.site, policy});
    }
    site.agents = agents[one.site];
  }
  for (const auto& [link, addresses] : found_addresses(all)) {
    const auto found = view.links.find(link);
    if (found != view.links.end() && !addresses.empty()) found->second.seen = addresses.front();
  }
  return view;
}

std::map<std::string, std::vector<IpAddress>> found_addresses(const std::vector<AgentWan>& all) {
  constexpr std::size_t kMostAddresses = 4;
  std::map<std::string, std::set<IpAddress>> seen;
  for (const AgentWan& one : all) {
    if (!one.report.active) continue;
    for (const WanTunnelState& tunnel : one.report.tunnels) {
      if (tunnel.up && tunnel.endpoint) seen[tunnel.peer_link].insert(*tunnel.endpoint);
    }
  }
  std::map<std::string, std::vector<IpAddress>> found;
  for (const auto& [link, addresses] : seen) {
    for (const IpAddress& address : addresses) {
      if (found[link].size() + 1 < kMostAddresses) found[link].push_back(address);
    }
  }
  for (const AgentWan& one : all) {
    if (!one.report.active) continue;
    for (const WanLinkState& link : one.report.links) {
      std::vector<IpAddress>& known = found[link.link];
      if (link.address && std::ranges::find(known, *link.address) == known.end()) known.push_back(*link.address);
    }
  }
  return found;
}

}  // namespace edge::controller
