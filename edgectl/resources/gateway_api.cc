#include "edgectl/resources/gateway_api.h"

namespace edge::edgectl {
namespace {

kube::Resource resource(const char* plural, const char* kind, bool namespaced) {
  return {.group = "gateway.networking.k8s.io",
          .version = "v1",
          .plural = plural,
          .kind = kind,
          .namespaced = namespaced,
          .singular = {}};
}

}  // namespace

kube::Resource gateway_class_resource() { return resource("gatewayclasses", "GatewayClass", /*namespaced=*/false); }
kube::Resource gateway_resource() { return resource("gateways", "Gateway", /*namespaced=*/true); }
kube::Resource http_route_resource() { return resource("httproutes", "HTTPRoute", /*namespaced=*/true); }

}  // namespace edge::edgectl
