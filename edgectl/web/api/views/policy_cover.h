// Which policies apply to which routes: of a type, a route's own policy replaces that of its gateway
// (docs/policies.md).
#pragma once

#include <cstddef>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

/// Limit of routes in a reply; further ones are counted.
inline constexpr std::size_t kMostCoveredRoutes = 10'000;

/// Returns policies with their targets, and ProxyRoutes, HTTPRoutes and GRPCRoutes with the policies that apply.
nlohmann::ordered_json policy_cover_json(const StoreView& view);

}  // namespace edge::edgectl::web
