// The label by which agents know their region.
#pragma once

#include <string_view>

namespace edge::program {

/// Of Nodes and agents: clusters of the same region come before others.
inline constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";

}  // namespace edge::program
