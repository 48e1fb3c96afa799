// Decides which gateways and classes are served (rule D8).
#include <string>
#include <string_view>

#include "compiler/translate/translate.h"

namespace edge::compiler::translate {
namespace {

void swap_class(std::string_view ours, std::string_view usual, std::string& named) {
  if (named == ours) {
    named = usual;
  } else if (named == usual) {
    named = ours;
  }
}

}  // namespace

void serve_class(std::string_view ours, std::string_view usual, model::ResourceSet& resources) {
  if (ours.empty() || ours == usual) return;
  for (model::ProxyGateway& gateway : resources.gateways) {
    if (!gateway.load_balancer_class) {
      gateway.load_balancer_class.emplace();
      gateway.load_balancer_class->value = usual;
    }
    swap_class(ours, usual, gateway.load_balancer_class->value);
  }
  for (model::GatewayClass& each : resources.gateway_classes) swap_class(ours, usual, each.controller.value);
  for (model::IngressClass& each : resources.ingress_classes) swap_class(ours, usual, each.controller.value);
}

}  // namespace edge::compiler::translate
