// The configuration as a graph, in the order in which a request passes it: addresses, gateways, hosts, routes,
// backends, endpoints.
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/web/access/store_view.h"

namespace edge::edgectl::web {

/// Limits of a reply. Routes that would exceed them are omitted with what they alone lead to, and counted.
struct TopologyBounds {
  std::size_t nodes = 4'000;
  std::size_t edges = 16'000;
};

struct TopologyQuery {
  std::string name_space{};  ///< of routes; empty: all
  std::string search{};      ///< part of a route's name, of one of its hosts, or of a backend's name; empty: all
};

/// Returns nodes with their layer, and edges as pairs of indices of nodes. Gateways and backends that no route uses are
/// included where everything is asked for. The same objects give the same reply.
nlohmann::ordered_json topology_json(const StoreView& view, const TopologyQuery& query,
                                     const TopologyBounds& bounds = {});

}  // namespace edge::edgectl::web
