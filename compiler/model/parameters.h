// What a parametersRef of a Gateway or a GatewayClass names: a ProxyGateway, whose settings the Gateway takes.
// Translating takes them, linking tells a class whether it has any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/model/gateway.h"
#include "compiler/model/gateway_api.h"

namespace edge::compiler::model {

struct Parameters {
  const ProxyGateway* settings = nullptr;
  std::string fault{};  ///< why there are none, for a message
};

/// `name_space`: of the referrer, where the reference has none; empty: of a class, which must name one.
Parameters find_parameters(const ObjectRef& ref, std::string_view name_space,
                           const std::vector<ProxyGateway>& gateways);

/// Everything of `from` but its listeners, its addresses and its class. `gateway` has its listeners.
void take_settings(const ProxyGateway& from, ProxyGateway& gateway);

}  // namespace edge::compiler::model
