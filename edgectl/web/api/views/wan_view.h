// The SD-WAN as a graph: sites, the tunnels between them, and the links that policies take, by the statuses of their
// objects.
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

/// Limit of a reply; further sites, and their tunnels, are counted. The tunnels of a full mesh grow with its square.
inline constexpr std::size_t kMostWanSites = 200;
/// Limit of the paths of policies; further ones are counted.
inline constexpr std::size_t kMostWanPaths = 5'000;

/// Sites by name; a tunnel is two indices of sites and `up`, `down` or `unknown`.
nlohmann::ordered_json wan_json(const StoreView& view);

}  // namespace edge::edgectl::web
