#include "compiler/translate/translate.h"

#include <iterator>
#include <utility>

#include "compiler/translate/gateway_api.h"
#include "compiler/translate/ingress.h"

namespace edge::compiler::translate {

model::ResourceSet translate(const model::ResourceSet& resources, std::string_view controller,
                             Diagnostics& diagnostics) {
  model::ResourceSet made;
  // Most configurations hold own kinds alone, and need no index of the Services.
  if (resources.api_gateways.empty() && resources.api_routes.empty() && resources.ingresses.empty()) return made;
  ServiceBackends backends(resources, diagnostics);
  const OthersGateways others = translate_gateways(resources, controller, made, diagnostics);
  for (const model::ApiRoute& route : resources.api_routes) {
    translate_route(route, others, backends, made, diagnostics);
  }
  translate_ingresses(resources, controller, backends, made, diagnostics);
  made.backends = backends.take();
  return made;
}

void append(model::ResourceSet made, model::ResourceSet& resources) {
  const auto add = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  add(made.gateways, resources.gateways);
  add(made.routes, resources.routes);
  add(made.backends, resources.backends);
  add(made.policies, resources.policies);
  add(made.grants, resources.grants);
}

}  // namespace edge::compiler::translate
