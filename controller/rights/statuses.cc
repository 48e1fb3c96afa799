#include "controller/rights/statuses.h"

#include <algorithm>
#include <iterator>

namespace edge::controller {
namespace {

constexpr std::string_view kApiRoutes[] = {"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"};
constexpr std::string_view kOwnKinds[] = {"ProxyGateway",      "ProxyRoute", "ProxyBackend", "ProxyPolicy", "ProxyVIP",
                                          "EdgeRemoteCluster", "Site",       "WANLink",      "WANPolicy"};
constexpr std::string_view kOtherKinds[] = {"Gateway",          "GatewayClass", "ListenerSet",
                                            "BackendTLSPolicy", "Ingress",      "ServiceExport"};

template <std::size_t n>
bool among(const std::string_view (&kinds)[n], std::string_view kind) {
  return std::find(std::begin(kinds), std::end(kinds), kind) != std::end(kinds);
}

}  // namespace

bool is_own_with_status(std::string_view kind) { return among(kOwnKinds, kind); }
bool is_wan_kind(std::string_view kind) { return kind == "Site" || kind == "WANLink" || kind == "WANPolicy"; }
bool is_api_route(std::string_view kind) { return among(kApiRoutes, kind); }
bool has_status(std::string_view kind) {
  return is_own_with_status(kind) || is_api_route(kind) || among(kOtherKinds, kind);
}

}  // namespace edge::controller
