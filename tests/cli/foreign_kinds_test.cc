// Gateway API and Ingress as a user runs them: resources of Kubernetes alone, a real backend, curl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

using testing::StartsWith;

/// The Service `be` and its endpoint.
std::string service_config(int port) {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: be}\nspec: {ports: [{name: http, port: 80}]}\n"
         "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
         "metadata: {name: be-1, labels: {kubernetes.io/service-name: be}}\naddressType: IPv4\n"
         "ports: [{name: http, port: " +
         std::to_string(port) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n---\n";
}

class ForeignKinds : public testing::Test {
 protected:
  std::vector<std::string> command() const {
    return {"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"};
  }

  TempDir dir_;
};

TEST_F(ForeignKinds, AGatewayAndAnHttpRouteServe) {
  Backend backend("one");
  dir_.put("config/all.yaml", service_config(backend.port) + R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec: {controllerName: edgeproxy.io/proxy}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web}
spec:
  gatewayClassName: edge
  listeners: [{name: http, port: 8080, protocol: HTTP}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: web}]
  hostnames: [shop.example]
  rules:
    - matches: [{path: {value: /old}}]
      filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}}]
      backendRefs: [{name: be, port: 80}]
    - matches: [{path: {value: /lost}}]
      backendRefs: [{name: nowhere, port: 80}]
)");
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/old/x"), "200 one got GET /new/x");
  EXPECT_THAT(curl(proxy.port, "/lost"), StartsWith("500 "));
  EXPECT_THAT(curl(proxy.port, "/"), StartsWith("404 "));
}

TEST_F(ForeignKinds, AnIngressServes) {
  Backend backend("one");
  dir_.put("config/all.yaml", service_config(backend.port) + R"(
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: edge}
spec: {controller: edgeproxy.io/proxy}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {edgeproxy.io/rewrite-target: /new}}
spec:
  ingressClassName: edge
  rules:
    - host: shop.example
      http: {paths: [{path: /old, pathType: Prefix, backend: {service: {name: be, port: {name: http}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: guarded, annotations: {edgeproxy.io/auth-ulr: 'http://auth.example/'}}
spec:
  ingressClassName: edge
  rules:
    - host: shop.example
      http: {paths: [{path: /guarded, pathType: Prefix, backend: {service: {name: be, port: {name: http}}}}]}
)");
  ProxyProcess proxy(command());
  ASSERT_NE(proxy.wait_ready(), "") << proxy.process.err_text();
  EXPECT_EQ(curl(proxy.port, "/old/x"), "200 one got GET /new/x");
  // At fault in a file: it is not applied, and never served without what was to guard it.
  EXPECT_THAT(curl(proxy.port, "/guarded"), StartsWith("404 "));
  EXPECT_THAT(curl(proxy.port, "/"), StartsWith("404 "));
}

}  // namespace
}  // namespace edge::test
