// The SD-WAN as sent to agents, and as they report it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/labels.h"

namespace edge::controller {

/// The assignment of the agents whose labels `node_selector` selects. Of two sites for one agent the first counts.
struct SiteLinks {
  std::string site;       ///< `namespace/name`
  Labels node_selector;   ///< not empty
  std::string fault{};    ///< why it has no tunnels, or not all; empty: nothing is wrong
  std::string message{};  ///< a LinksDown without its version
  friend bool operator==(const SiteLinks&, const SiteLinks&) = default;
};

/// What to send.
struct CurrentLinks {
  std::uint64_t version = 0;  ///< 0: nothing yet
  std::shared_ptr<const std::vector<SiteLinks>> sites;
};

/// Returns the assignment of an agent with these labels, its own before those of its Node; null: it is of no site.
const SiteLinks* site_of_agent(const std::vector<SiteLinks>& sites, const Labels& own, const Labels& of_node);

/// Times in microseconds, shares per 100,000.
struct WanQuality {
  bool measured = false;
  bool alive = false;
  std::string fault{};        ///< the limit that is exceeded, or `no answers`; empty: none
  std::int64_t since_ms = 0;  ///< since 1970: when the fault began, or the last one ended
  std::uint32_t probes = 0;   ///< in the window
  std::uint32_t loss = 0;
  std::optional<std::uint32_t> forward_loss{};
  std::optional<std::uint32_t> backward_loss{};
  std::uint32_t latency = 0;  ///< median
  std::uint32_t latency_p95 = 0;
  std::uint32_t jitter = 0;
  std::uint32_t forward_jitter = 0;
  std::uint32_t backward_jitter = 0;
  std::int64_t last_probe_ms = 0;  ///< since 1970
  friend bool operator==(const WanQuality&, const WanQuality&) = default;
};

struct WanLinkState {
  std::string link;
  std::string interface{};
  std::optional<IpAddress> address{};  ///< of the interface
  WanQuality quality{};
  friend bool operator==(const WanLinkState&, const WanLinkState&) = default;
};

struct WanTunnelState {
  std::string link;
  std::string peer_site;
  std::string peer_link;
  std::string interface{};
  bool up = false;
  std::int64_t handshake_ms = 0;        ///< since 1970; 0: none
  std::optional<IpAddress> endpoint{};  ///< of the peer, as this agent sees it
  std::uint32_t endpoint_port = 0;
  std::uint32_t mtu = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
  std::string fault{};
  WanQuality quality{};
  friend bool operator==(const WanTunnelState&, const WanTunnelState&) = default;
};

struct WanPath {
  std::string link;
  std::string peer_link;
  friend bool operator==(const WanPath&, const WanPath&) = default;
};

struct WanPolicyState {
  std::string policy;  ///< empty: what no policy is for
  std::string peer_site;
  std::vector<WanPath> paths{};
  bool best_effort = false;
  bool dropped = false;
  std::int64_t since_ms = 0;
  std::string cause{};  ///< of the last move
  std::string fault{};  ///< of the path that was left
  std::vector<WanPath> before{};
  std::uint64_t moves = 0;
  friend bool operator==(const WanPolicyState&, const WanPolicyState&) = default;
};

/// An agent's report.
struct WanReport {
  bool active = false;  ///< it holds the site's tunnels
  std::vector<WanLinkState> links{};
  std::vector<WanTunnelState> tunnels{};
  std::vector<WanPolicyState> policies{};
  std::vector<std::string> faults{};
  friend bool operator==(const WanReport&, const WanReport&) = default;
};

struct AgentWan {
  std::string agent;
  std::string node;
  std::string site;  ///< whose assignment it was sent
  WanReport report;
  friend bool operator==(const AgentWan&, const AgentWan&) = default;
};

}  // namespace edge::controller
