// One configuration written as ProxyRoute, as HTTPRoute and as Ingress: the programs decide alike.
#include <regex>

#include <gtest/gtest.h>

#include "tests/golden/golden_case.h"

namespace edge::golden {
namespace {

constexpr std::string_view kService = R"(apiVersion: v1
kind: Service
metadata: {name: app}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: app-1, labels: {kubernetes.io/service-name: app}}
addressType: IPv4
endpoints: [{addresses: [127.0.0.1]}]
ports: [{port: 9000}]
---
)";

constexpr std::string_view kOwn = R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: web}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: app}
spec: {serviceRef: {name: app, port: 80}}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: r}
spec:
  parentRefs: [{name: web}]
  hostnames: ['*.example.com']
  rules:
    - matches: [{path: {type: Exact, value: /exact}}]
      backendRef: {name: app}
    - matches: [{path: {type: PathPrefix, value: /prefix}}]
      backendRef: {name: app}
    - matches: [{path: {type: PathPrefix, value: /prefix/longer}}]
      backendRef: {name: app}
    - matches: [{path: {type: PathPrefix, value: /}}]
      backendRef: {name: app}
)";

constexpr std::string_view kGatewayApi = R"(apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec: {controllerName: edgeproxy.io/proxy}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web}
spec: {gatewayClassName: edge, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
spec:
  parentRefs: [{name: web}]
  hostnames: ['*.example.com']
  rules:
    - matches: [{path: {type: Exact, value: /exact}}]
      backendRefs: [{name: app, port: 80}]
    - matches: [{path: {value: /prefix}}]
      backendRefs: [{name: app, port: 80}]
    - matches: [{path: {value: /prefix/longer}}]
      backendRefs: [{name: app, port: 80}]
    - backendRefs: [{name: app, port: 80}]
)";

constexpr std::string_view kIngress = R"(apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: edge}
spec: {controller: edgeproxy.io/proxy}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: r}
spec:
  ingressClassName: edge
  rules:
    - host: '*.example.com'
      http:
        paths:
          - {path: /exact, pathType: Exact, backend: {service: {name: app, port: {number: 80}}}}
          - {path: /prefix, pathType: Prefix, backend: {service: {name: app, port: {number: 80}}}}
          - {path: /prefix/longer, pathType: Prefix, backend: {service: {name: app, port: {number: 80}}}}
          - {path: /, pathType: Prefix, backend: {service: {name: app, port: {number: 80}}}}
)";

constexpr std::string_view kRequests = R"(GET http://a.example.com/exact
GET http://a.example.com/exact/x
GET http://a.example.com/prefix
GET http://a.example.com/prefix/longer/x
GET http://a.example.com/prefixed
GET http://b.a.example.com:80/%65xact
GET http://example.com/exact
GET http://other.com/
)";

/// What each request leads to, without the names of gateway and route.
std::string decisions(std::string_view config) {
  const CaseResult result = run_case(std::string(kService) + std::string(config), kRequests);
  EXPECT_EQ(result.disagreements, "");
  EXPECT_NE(result.outputs.at("diagnostics.txt").find("0 errors, 0 warnings"), std::string::npos)
      << result.outputs.at("diagnostics.txt");
  const std::string text =
      std::regex_replace(result.outputs.at("routes.txt"), std::regex("listener [^:,]*"), "listener");
  return std::regex_replace(text, std::regex("route [^ ]* "), "route ");
}

TEST(Alike, HoweverItIsWritten) {
  const std::string own = decisions(kOwn);
  EXPECT_NE(own.find("rules[2].matches[0]"), std::string::npos) << own;
  EXPECT_NE(own.find("404"), std::string::npos) << own;
  EXPECT_EQ(decisions(kGatewayApi), own);
  EXPECT_EQ(decisions(kIngress), own);
}

}  // namespace
}  // namespace edge::golden
