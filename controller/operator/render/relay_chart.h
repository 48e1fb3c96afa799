// The Helm chart of a relay (deploy/charts/edge-relay): what a site without a controller runs in its cluster, so that
// its agents get programs of a hub. docs/clusters.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace edge::cluster_operator::relay_chart {

/// Path below the checkout, and text.
std::vector<std::pair<std::string, std::string>> files();

}  // namespace edge::cluster_operator::relay_chart
