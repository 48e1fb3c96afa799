// Translates Gateway -> ProxyGateway, and the routes of Gateway API -> ProxyRoute.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"
#include "compiler/translate/service_backends.h"

namespace edge::compiler::translate {

/// `namespace/name` of the Gateways of other controllers.
using OthersGateways = std::set<std::string, std::less<>>;

/// `namespace/name` of the Gateway that each ListenerSet, by `namespace/name`, adds listeners to.
using ListenerSetParents = std::map<std::string, std::string, std::less<>>;
ListenerSetParents listener_set_parents(const model::ResourceSet& resources);

/// Makes gateways of those that are of our class (rule D8), with the listeners of their ListenerSets.
OthersGateways translate_gateways(const model::ResourceSet& resources, std::string_view controller,
                                  model::ResourceSet& made, Diagnostics& diagnostics);

/// ProxyPolicies without targets of their own, by `namespace/name`: filters of type ExtensionRef name them.
using NamedPolicies = std::map<std::string, const model::ProxyPolicy*, std::less<>>;

/// Makes the route of one HTTPRoute, GRPCRoute, TLSRoute, TCPRoute or UDPRoute; nothing where all its parents are
/// others'.
void translate_route(const model::ApiRoute& route, const OthersGateways& others, const ListenerSetParents& sets,
                     const NamedPolicies& policies, ServiceBackends& backends, model::ResourceSet& made,
                     Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
