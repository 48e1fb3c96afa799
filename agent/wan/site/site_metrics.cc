#include <algorithm>
#include <utility>

#include "agent/wan/site/site.h"

namespace edge::agent::wan {

void write_metrics(const SiteState& now, metrics::Exposition& out) {
  if (now.assignment.node.tunnels.site.empty()) return;
  using metrics::Family;
  using metrics::labels;
  out.begin(Family::kWanActive);
  out.sample(std::uint64_t{now.active}, labels({{"site", now.assignment.node.tunnels.site}}));
  if (!now.active) return;
  const Measured& measured = now.assignment.measured;
  const std::size_t tunnels = std::min(measured.tunnels.size(), now.measured.tunnels.size());
  const auto each_tunnel = [&](Family family, const auto& value) {
    out.begin(family);
    for (std::size_t i = 0; i < tunnels; ++i) {
      const MeasuredTunnel& tunnel = measured.tunnels[i];
      out.sample(value(now.measured.tunnels[i]),
                 labels({{"link", tunnel.link}, {"peer", tunnel.peer_site}, {"peer_link", tunnel.peer_link}}));
    }
  };
  const auto seconds = [](Time time) { return std::chrono::duration<double>(time).count(); };
  each_tunnel(Family::kWanTunnelAlive, [](const PathReport& path) { return std::uint64_t{path.alive}; });
  each_tunnel(Family::kWanTunnelLatency, [&](const PathReport& path) { return seconds(path.quality.latency); });
  each_tunnel(Family::kWanTunnelJitter, [&](const PathReport& path) { return seconds(path.quality.jitter); });
  each_tunnel(Family::kWanTunnelLoss, [](const PathReport& path) { return path.quality.loss; });
  out.begin(Family::kWanLinkHealthy);
  for (std::size_t i = 0; i < std::min(measured.links.size(), now.measured.links.size()); ++i) {
    const PathReport& link = now.measured.links[i];
    const bool healthy = link.measured && link.alive && link.fault == Fault::kNone;
    if (measured.links[i].enabled) out.sample(std::uint64_t{healthy}, labels({{"link", measured.links[i].id}}));
  }
  const auto each_policy = [&](Family family, const auto& value) {
    out.begin(family);
    for (const PolicyReport& policy : now.measured.policies) {
      out.sample(value(policy), labels({{"policy", policy.policy}, {"peer", policy.peer_site}}));
    }
  };
  each_policy(Family::kWanMoves, [](const PolicyReport& policy) { return policy.moves; });
  each_policy(Family::kWanUnfit,
              [](const PolicyReport& policy) { return std::uint64_t{policy.dropped || policy.best_effort}; });
  const ReflectorFigures& reflector = now.measured.reflector;
  out.begin(Family::kWanReflected);
  for (const auto& [result, count] :
       {std::pair("answered", reflector.answered), std::pair("unknown", reflector.unknown),
        std::pair("forged", reflector.forged), std::pair("replayed", reflector.replayed),
        std::pair("limited", reflector.limited)}) {
    out.sample(count, labels({{"result", result}}));
  }
}

}  // namespace edge::agent::wan
