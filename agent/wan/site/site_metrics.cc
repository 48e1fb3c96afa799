#include <algorithm>
#include <string>
#include <utility>

#include "agent/wan/site/site.h"

namespace edge::agent::wan {
namespace {

/// `192.0.2.1:51820`, `[2001:db8::1]:51820`.
std::string text_of(const net::SocketAddress& endpoint) {
  const std::string address = to_string(endpoint.address);
  return (endpoint.address.is_v4() ? address : "[" + address + "]") + ":" + std::to_string(endpoint.port);
}

/// What the kernel, or wireguard-go, says of them.
void write_tunnels(const std::vector<TunnelState>& tunnels, metrics::Exposition& out) {
  using metrics::Family;
  const auto with = [](const TunnelState& tunnel, std::string_view name, std::string_view value) {
    return metrics::labels(
        {{"link", tunnel.link}, {"peer", tunnel.peer}, {"peer_link", tunnel.peer_link}, {name, value}});
  };
  out.begin(Family::kWanTunnelHandshake);
  for (const TunnelState& tunnel : tunnels) {
    if (tunnel.handshake) {
      out.sample(static_cast<std::uint64_t>(tunnel.handshake->count()),
                 metrics::labels({{"link", tunnel.link}, {"peer", tunnel.peer}, {"peer_link", tunnel.peer_link}}));
    }
  }
  out.begin(Family::kWanTunnelBytes);
  for (const TunnelState& tunnel : tunnels) {
    if (tunnel.interface.empty()) continue;
    out.sample(tunnel.received, with(tunnel, "direction", "received"));
    out.sample(tunnel.sent, with(tunnel, "direction", "sent"));
  }
  out.begin(Family::kWanTunnelEndpoint);
  for (const TunnelState& tunnel : tunnels) {
    if (tunnel.endpoint) out.sample(std::uint64_t{1}, with(tunnel, "endpoint", text_of(*tunnel.endpoint)));
  }
}

}  // namespace

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
  write_tunnels(now.node.tunnels.tunnels, out);
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
