// The SD-WAN as its resources' statuses have it, for `edgectl sdwan`: tables, a drawing, a graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// A tunnel that carries nothing, from the link's end.
struct WanDownLine {
  std::string site, link;  ///< of its other end
  std::string why, since;
};

struct WanLinkLine {
  std::string name;  ///< `namespace/name`, as all names here
  std::string role, provider, latency, loss;
  std::string healthy;  ///< `True`, `False`, `Unknown`; empty: not reported
  std::vector<WanDownLine> down{};
};

struct WanSiteLine {
  std::string name, role, node, ready, why;
  std::vector<std::string> prefixes{};
  std::vector<std::string> peers{};  ///< that a tunnel is up to
  std::string link_count{};          ///< `1/2` are healthy
  std::vector<WanLinkLine> links{};
};

enum class TunnelLook : std::uint8_t { kNone, kDown, kUp, kUnknown };
/// `down`, `up`, `unknown`; empty for kNone.
std::string_view look_text(TunnelLook look);

struct WanPicture {
  std::vector<WanSiteLine> sites;  ///< by name
  /// Of sites `a` and `b`: none, where both are reached through another.
  TunnelLook tunnel(std::size_t a, std::size_t b) const;
};

/// One site with its links.
nlohmann::ordered_json wan_site_json(const WanSiteLine& site);

/// From objects as the API has them.
WanPicture wan_picture(const std::vector<nlohmann::json>& sites, const std::vector<nlohmann::json>& links);

/// Sites, what each policy takes and since when and why, and what is amiss. `now`: seconds since 1970.
std::string wan_status_text(const WanPicture& picture, const std::vector<nlohmann::json>& policies, std::int64_t now);
nlohmann::ordered_json wan_status_json(const WanPicture& picture, const std::vector<nlohmann::json>& policies);

/// A drawing for terminals: hubs with the sites around them, or every pair where there is no hub.
std::string wan_topology_text(const WanPicture& picture);
/// Graphviz.
std::string wan_topology_dot(const WanPicture& picture);
nlohmann::ordered_json wan_topology_json(const WanPicture& picture);

}  // namespace edge::edgectl
