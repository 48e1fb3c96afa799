// The kinds that clusters may share (EdgeRemoteCluster.spec.federation).
#pragma once

#include <span>
#include <string_view>

namespace edge::schemas {

/// By their names; Secret among them, which travels only where it is named.
inline constexpr std::string_view kFederatedKinds[] = {"ProxyVIP",     "ProxyGateway", "ProxyRoute",
                                                       "ProxyBackend", "ProxyPolicy",  "Secret"};
inline std::span<const std::string_view> federated_kinds() { return kFederatedKinds; }

}  // namespace edge::schemas
