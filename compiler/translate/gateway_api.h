// Translates Gateway -> ProxyGateway, and the routes of Gateway API -> ProxyRoute.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"
#include "compiler/translate/service_backends.h"

namespace edge::compiler::translate {

/// `namespace/name` of the Gateways of other controllers.
using OthersGateways = std::set<std::string, std::less<>>;

/// Makes gateways for those of this controller's class (rule D8).
OthersGateways translate_gateways(const model::ResourceSet& resources, std::string_view controller,
                                  model::ResourceSet& made, Diagnostics& diagnostics);

/// Makes the route for one HTTPRoute, GRPCRoute, TLSRoute or TCPRoute; nothing where all its parents are other
/// controllers'.
void translate_route(const model::ApiRoute& route, const OthersGateways& others, ServiceBackends& backends,
                     model::ResourceSet& made, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
