// Gateway -> ProxyGateway, and the routes of Gateway API -> ProxyRoute.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"
#include "compiler/translate/service_backends.h"

namespace edge::compiler::translate {

/// `namespace/name` of the Gateways that another controller serves.
using OthersGateways = std::set<std::string, std::less<>>;

/// `namespace/name` of the Gateway that each ListenerSet, by `namespace/name`, adds listeners to.
using ListenerSetParents = std::map<std::string, std::string, std::less<>>;
ListenerSetParents listener_set_parents(const model::ResourceSet& resources);

/// Makes gateways of those that are of our class (rule D8), with the listeners of their ListenerSets.
OthersGateways translate_gateways(const model::ResourceSet& resources, std::string_view controller,
                                  model::ResourceSet& made, Diagnostics& diagnostics);

/// Makes the route of one HTTPRoute, GRPCRoute, TLSRoute or TCPRoute; nothing where all its parents are others'.
void translate_route(const model::ApiRoute& route, const OthersGateways& others, const ListenerSetParents& sets,
                     ServiceBackends& backends, model::ResourceSet& made, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
