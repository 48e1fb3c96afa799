// What agents report of the SD-WAN, by the resource that it concerns: of every site what its holder says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/distribute/site_links.h"

namespace edge::controller {

struct WanSiteView {
  std::string agent;  ///< that holds its tunnels; empty: none does
  std::string node;
  std::vector<std::string> agents{};  ///< connected ones of the site
  std::vector<std::string> peers{};   ///< sites that a tunnel is up to
  std::vector<std::string> lost{};    ///< sites that tunnels should lead to, and none is up
  std::uint32_t healthy_links = 0;
  std::uint32_t links = 0;
  std::vector<std::string> faults{};
  std::vector<WanTunnelState> tunnels{};
  friend bool operator==(const WanSiteView&, const WanSiteView&) = default;
};

/// One end of a tunnel is the link whose view it is in, this is the other one.
struct WanTunnelEnd {
  std::string site, link;
  friend auto operator<=>(const WanTunnelEnd&, const WanTunnelEnd&) = default;
};

/// A tunnel that carries nothing.
struct WanDownTunnel {
  WanTunnelEnd to;
  std::string reason, message;
  std::int64_t since_ms = 0;  ///< since 1970; 0: not known
  friend bool operator==(const WanDownTunnel&, const WanDownTunnel&) = default;
};

struct WanLinkView {
  std::string site;
  WanLinkState state;
  std::optional<IpAddress> seen{};  ///< its public address, as another site sees it
  /// Its tunnels, in order. Those of which nothing is known yet are in neither.
  std::vector<WanTunnelEnd> up{};
  std::vector<WanDownTunnel> down{};
  friend bool operator==(const WanLinkView&, const WanLinkView&) = default;
};

struct WanPolicyAtSite {
  std::string site;
  WanPolicyState state;
  friend bool operator==(const WanPolicyAtSite&, const WanPolicyAtSite&) = default;
};

struct WanView {
  std::map<std::string, WanSiteView> sites{};  ///< by `namespace/name`, like the others
  std::map<std::string, WanLinkView> links{};
  std::map<std::string, std::vector<WanPolicyAtSite>> policies{};  ///< by site, then by peer
};

WanView wan_view_of(const std::vector<AgentWan>& all);

/// Addresses of links that agents have found, the best first: as other sites see them, then that of the interface.
std::map<std::string, std::vector<IpAddress>> found_addresses(const std::vector<AgentWan>& all);

}  // namespace edge::controller
