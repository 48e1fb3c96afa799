// The SD-WAN's kinds, linked: references are positions, defaults are in place. Not part of a program.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "base/labels.h"
#include "compiler/link/identity.h"

namespace edge::compiler {

/// A site's end of its tunnels.
struct LinkedOverlay {
  IpAddress address{};
  std::uint8_t prefix_length = 128;  ///< in the mapped form
  std::uint16_t port = 51'820;       ///< the first that tunnels come in on
  std::uint32_t mtu = 1420;
  std::string public_key{};  ///< base64; empty: made by the controller
  /// Namespace and name of the Secret with the private key; empty: made by the controller.
  std::pair<std::string, std::string> key_secret{};
};

struct LinkedSite {
  Identity id;
  bool hub = false;
  bool remote = false;                     ///< another cluster runs it
  std::optional<LinkedOverlay> overlay{};  ///< without one no tunnel leads to it
  Labels node_selector{};                  ///< of the agents that may hold its tunnels; empty: none does
  std::vector<Cidr> prefixes{};
  std::vector<Span> prefix_spans{};
};

/// What a path must keep.
struct LinkedLimits {
  std::optional<std::uint32_t> loss{};  ///< per 100,000 packets
  std::optional<std::chrono::nanoseconds> latency{};
  std::optional<std::chrono::nanoseconds> jitter{};
  Span loss_span{};  ///< of the field, where there is one
  Span latency_span{};
  bool any() const { return loss || latency || jitter; }
};

enum class LinkProbe : std::uint8_t { kUdp, kIcmp, kTcp };

struct LinkedWanLink {
  Identity id;
  std::uint32_t site = 0;  ///< of LinkedWan::sites
  bool enabled = true;
  bool metered = false;
  bool backup = false;
  std::int64_t cost = 0;
  std::string interface{};
  std::optional<IpAddress> address{};
  std::optional<IpAddress> gateway{};
  std::uint32_t up_mbps = 0;  ///< 0: not known
  std::uint32_t down_mbps = 0;
  LinkProbe probe = LinkProbe::kUdp;
  std::vector<IpAddress> targets{};
  std::uint16_t target_port = 443;
  std::chrono::nanoseconds interval{};
  std::chrono::nanoseconds timeout{};
  std::uint32_t window = 0;
  LinkedLimits limits{};
};

enum class WanProtocol : std::uint8_t { kTcp, kUdp, kIcmp, kOther };
inline constexpr std::size_t kWanProtocols = 4;

/// One class of traffic. An empty list is any value.
struct LinkedTraffic {
  std::vector<Cidr> sources{};
  std::vector<Cidr> destinations{};
  std::vector<WanProtocol> protocols{};
  std::vector<std::uint16_t> ports{};  ///< of the destination; TCP and UDP have some
  std::vector<std::uint8_t> dscp{};
  std::vector<std::string> gateways{};  ///< `namespace/name`: traffic of the proxy itself, of these
};

/// Of packets on a link whose bandwidth is known.
enum class WanClass : std::uint8_t { kByDscp, kVoice, kDefault, kBulk };

struct LinkedWanPolicy {
  Identity id;
  std::vector<std::uint32_t> sites{};  ///< ascending
  std::int64_t priority = 0;
  std::vector<LinkedTraffic> matches{};  ///< empty: all traffic
  std::vector<std::uint32_t> links{};    ///< the preferred first; empty: all of the site
  bool drops = false;                    ///< `fallback: Drop`
  std::string strategy{};
  LinkedLimits limits{};
  std::chrono::nanoseconds after{};
  std::chrono::nanoseconds back_after{};
  std::optional<std::uint8_t> set_dscp{};  ///< that its packets are given; nullopt: they keep their own
  WanClass traffic_class = WanClass::kByDscp;
  std::optional<Span> class_span{};  ///< of `qos.class`, where it is given
};

struct LinkedWan {
  std::vector<LinkedSite> sites{};
  std::vector<LinkedWanLink> links{};
  /// In the order in which they hold: by priority, the older first, then by name. Without those at fault.
  std::vector<LinkedWanPolicy> policies{};
};

}  // namespace edge::compiler
