// The SD-WAN's kinds, linked: references are positions, defaults are in place. Not part of a program.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "compiler/link/identity.h"

namespace edge::compiler {

struct LinkedSite {
  Identity id;
  bool hub = false;
  bool has_overlay = false;  ///< without one no tunnel leads to it
  std::vector<Cidr> prefixes{};
  std::vector<Span> prefix_spans{};
};

struct LinkedWanLink {
  Identity id;
  std::uint32_t site = 0;  ///< of LinkedWan::sites
  bool enabled = true;
  bool metered = false;
  bool backup = false;
  std::int64_t cost = 0;
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

struct LinkedWanPolicy {
  Identity id;
  std::vector<std::uint32_t> sites{};  ///< ascending
  std::int64_t priority = 0;
  std::vector<LinkedTraffic> matches{};  ///< empty: all traffic
  std::vector<std::uint32_t> links{};    ///< the preferred first; empty: all of the site
  bool drops = false;                    ///< `fallback: Drop`
  std::string strategy{};
};

struct LinkedWan {
  std::vector<LinkedSite> sites{};
  std::vector<LinkedWanLink> links{};
  /// In the order in which they hold: by priority, the older first, then by name. Without those at fault.
  std::vector<LinkedWanPolicy> policies{};
};

}  // namespace edge::compiler
