// The kinds that have a status of the controller.
#pragma once

#include <string_view>

namespace edge::controller {

/// ProxyGateway, ProxyRoute and so on.
bool is_own_with_status(std::string_view kind);
/// HTTPRoute, GRPCRoute, TLSRoute, TCPRoute, UDPRoute.
bool is_api_route(std::string_view kind);
/// Site, WANLink or WANPolicy.
bool is_wan_kind(std::string_view kind);
/// Whether the controller writes the status of resources of this kind.
bool has_status(std::string_view kind);

}  // namespace edge::controller
