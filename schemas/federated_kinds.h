// The kinds that clusters may share (EdgeRemoteCluster.spec.federation).
#pragma once

#include <span>
#include <string_view>

namespace edge::schemas {

/// By their names; Secret among them, which travels only where it is named.
std::span<const std::string_view> federated_kinds();

}  // namespace edge::schemas
