#include "compiler/model/decode.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/model/formats.h"
#include "program/filter_table.h"
#include "schemas/schema.h"

namespace edge::compiler::model {
namespace {

struct Decoded {
  explicit Decoded(std::string text) {
    sources.add("t.yaml", std::move(text));
    resources = decode_all(sources, diagnostics);
    diagnostics.finish(sources);
  }
  /// `EDGE0101 spec.field: message` and the fix, a line each.
  std::string faults() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) {
      all += code_text(d.code) + " " + d.field + ": " + d.message + "\n";
      if (!d.fix.empty()) all += "  " + d.fix + "\n";
    }
    return all;
  }
  SourceMap sources;
  Diagnostics diagnostics;
  ResourceSet resources;
};

std::string header(std::string_view kind) {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: " + std::string(kind) + "\nmetadata: {name: x, namespace: shop}\n";
}
std::string route(std::string_view rules) {
  return header("ProxyRoute") + "spec:\n  parentRefs: [{name: web}]\n  rules:\n" + std::string(rules);
}

TEST(Decode, RouteWithEveryField) {
  const Decoded d(R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: api, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z", labels: {a: b}, uid: 7}
spec:
  parentRefs:
    - {name: web, namespace: infra, sectionName: http, port: 80}
  hostnames: ["*.Example.com", shop.example.org]
  expression: header:X-Env == "test"
  rules:
    - matches:
        - path: {type: RegularExpression, value: "^/v[0-9]+/"}
          headers:
            - {name: X-A, value: "1"}
            - {name: X-B, type: Present}
          method: GET
          queryParams: [{name: q, value: "a|b", type: RegularExpression}]
        - path: {value: /p}
        - {}
      filters:
        - type: RequestHeaderModifier
          requestHeaderModifier: {set: [{name: A, value: a}], add: [{name: B, value: "%REQ_ID%"}], remove: [C]}
        - {type: ResponseHeaderModifier, responseHeaderModifier: {remove: [Server]}}
        - type: URLRewrite
          urlRewrite: {hostname: in.example.com, path: {type: ReplacePrefixMatch, replacePrefixMatch: /q}}
        - {type: RequestMirror, requestMirror: {backendRef: {name: copy}, percent: 5}}
      backendRefs: [{name: a, weight: 90}, {name: b, namespace: other}]
      retry: {maxRetries: 2, retryOn: [5xx, connection-failure]}
      limits: {requestTimeout: 5s, idleTimeout: 1m, minGrpcTimeout: 20ms, maxRequestBodySize: 10Mi}
      buffering: {request: true, response: false, maxSize: 1024}
    - filters:
        - type: RequestRedirect
          requestRedirect: {scheme: https, hostname: a.example.com, port: 8443, statusCode: 308,
            path: {type: ReplaceFullPath, replaceFullPath: /new}}
)");
  EXPECT_EQ(d.faults(), "");
  ASSERT_EQ(d.resources.routes.size(), 1U);
  const ProxyRoute& r = d.resources.routes[0];
  EXPECT_EQ(r.metadata.text(), "ProxyRoute shop/api");
  EXPECT_EQ(r.metadata.created, 1767225600);
  EXPECT_EQ(r.parents[0].gateway.name_space, "infra");
  EXPECT_EQ(r.parents[0].section_name->value, "http");
  EXPECT_EQ(r.hostnames[0].value.text(), "*.example.com");
  EXPECT_EQ(d.sources[0].text().substr(r.hostnames[0].span.begin, 15), "\"*.Example.com\"");
  EXPECT_EQ(r.expression->value, "header:X-Env == \"test\"");
  const Rule& rule = r.rules[0];
  ASSERT_EQ(rule.matches.size(), 3U);
  EXPECT_EQ(rule.matches[0].path->type, PathType::kRegex);
  EXPECT_EQ(rule.matches[0].headers[1].type, ValueType::kPresent);
  EXPECT_EQ(rule.matches[0].query[0].value.value, "a|b");
  EXPECT_EQ(rule.matches[1].path->type, PathType::kPrefix);
  EXPECT_FALSE(rule.matches[2].path);
  ASSERT_EQ(rule.filters.size(), 4U);
  EXPECT_EQ(rule.filters[0].headers.add[0].value.value, "%REQ_ID%");
  EXPECT_EQ(rule.filters[2].path->value.value, "/q");
  EXPECT_EQ(rule.filters[3].share, (program::MirrorShare{5, 100}));
  EXPECT_EQ(rule.backends[0].weight->value, 90);
  EXPECT_EQ(rule.backends[1].backend.name_space, "other");
  EXPECT_EQ(rule.retry->retry_on.size(), 2U);
  EXPECT_EQ(rule.request_timeout->value, std::chrono::seconds(5));
  EXPECT_EQ(rule.min_grpc_timeout->value, std::chrono::milliseconds(20));
  EXPECT_EQ(rule.max_request_body->value, 10U << 20);
  EXPECT_EQ(rule.buffering->max_size->value, 1024U);
  EXPECT_EQ(r.rules[1].filters[0].status->value, 308);
}

TEST(Decode, GatewayAndVipWithEveryField) {
  const Decoded d(R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyVIP
metadata: {name: public}
spec:
  address: 10.1.2.3/24
  mode: BGP
  addressFamily: ipv4
  ports: [80, 443]
  interface: eth0
  healthPolicy: {minHealthyNodes: 2}
  bgp: {localAS: 64512, routerID: 10.0.0.1, communities: ["64512:1", "64512:1:4294967295", no-export], med: 5,
    localPreference: 200, holdTime: 9s, keepaliveTime: 3s, connectRetryTime: 1s, bfd: true, bfdInterval: 50ms,
    bfdMultiplier: 5, gracefulRestart: true, gracefulRestartTime: 1m,
    peers: [{address: "fd00::1", as: 4200000000, port: 1179, password: s, multihop: 3, sourceAddress: "fd00::2"},
      {address: 10.0.0.2, as: 64513, passwordSecretRef: {name: router, key: md5}}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: web}
spec:
  vipRef: edge-system/public
  loadBalancerClass: edgeproxy.io/proxy
  listeners:
    - {name: http, port: 80, protocol: HTTP, hostnames: ["*.example.com"], sslRedirect: true, maxRequestBodySize: 0,
       redirectScheme: {enabled: true, scheme: https, port: 443, statusCode: 302, exclusions: [/health, /a/]}}
    - {name: https, port: 443, protocol: HTTPS,
       tls: {certificateRefs: [{name: c, namespace: certs}, {name: d}], mode: Terminate, minVersion: TLS1.3}}
  compression: {enabled: true, minSize: "1024", level: 5, algorithms: [gzip, br], excludeTypes: ["image/*"]}
  cache: {enabled: true, maxSize: 1Gi, defaultTTL: 5s, maxTTL: 24h, maxEntrySize: 1MB}
  tracing: {enabled: true, samplingRate: 50}
  accessLog: {enabled: true, format: json, excludePaths: [/health]}
  trustedProxies: [10.0.0.0/8, "fd00::/8"]
)");
  EXPECT_EQ(d.faults(), "");
  ASSERT_EQ(d.resources.vips.size(), 1U);
  const ProxyVip& vip = d.resources.vips[0];
  EXPECT_EQ(vip.metadata.name_space, "default");
  EXPECT_EQ(to_string(vip.address.value), "10.1.2.3");
  EXPECT_EQ(vip.prefix_length, 120);
  EXPECT_EQ(vip.bgp->peers[0].as_number, 4'200'000'000);
  EXPECT_EQ(vip.bgp->peers[0].multihop->value, 3);
  EXPECT_EQ(vip.bgp->peers[1].password_secret->value, "router");
  EXPECT_EQ(vip.bgp->peers[1].password_key->value, "md5");
  EXPECT_EQ(vip.bgp->communities.size(), 3U);
  EXPECT_EQ(vip.bgp->bfd_interval->value, std::chrono::milliseconds(50));
  ASSERT_EQ(d.resources.gateways.size(), 1U);
  const ProxyGateway& g = d.resources.gateways[0];
  EXPECT_EQ(g.listeners[1].tls->certificates.size(), 2U);
  EXPECT_EQ(g.listeners[0].redirect_scheme->exclusions.size(), 2U);
  EXPECT_EQ(g.compression->min_size->value, 1024U);
  EXPECT_EQ(g.cache->max_entry_size->value, 1'000'000U);
  EXPECT_EQ(g.tracing->sampling_rate->value, 50);
  EXPECT_EQ(g.trusted_proxies.size(), 2U);
}

TEST(Decode, BackendWithEveryField) {
  const Decoded d(header("ProxyBackend") + R"(spec:
  serviceRef: {name: api, namespace: pods, port: web}
  lbPolicy: EWMA
  connectTimeout: 250ms
  timeout: {request: 30s, idle: 10s}
  healthCheck: {protocol: GRPC, interval: 10s, timeout: 5s, healthyThreshold: 2, unhealthyThreshold: 3,
    initialDelay: 1s,
    httpHealthCheck: {path: /h, host: a, expectedStatuses: [200, 204], headers: [{name: A, value: b}]},
    grpcHealthCheck: {serviceName: s}}
  passiveHealthCheck: {enabled: true, consecutiveErrors: 5, interval: 30s, baseEjectionTime: 30s,
    maxEjectionPercent: 50, consecutiveGatewayErrors: 0}
  circuitBreaker: {consecutiveFailures: 3, interval: 1s, baseEjectionTime: 2s, maxEjectionPercent: 10,
    splitExternalLocalOriginErrors: true, maxConnections: 10, maxPendingRequests: 5}
  connectionLimits: {maxConnections: 20, maxPendingRequests: 6, maxRequestsPerConnection: 7, maxRetries: 1}
  connectionPool: {maxIdleConns: 8, maxIdleConnsPerHost: 4}
  retryPolicy: {retryOn: [5xx, reset, retriable-4xx], numRetries: 2, perTryTimeout: 1s,
    retryBackOff: {baseInterval: 25ms, maxInterval: 1s}}
)");
  EXPECT_EQ(d.faults(), "");
  ASSERT_EQ(d.resources.backends.size(), 1U);
  const ProxyBackend& b = d.resources.backends[0];
  EXPECT_EQ(b.service_port.value.name, "web");
  EXPECT_EQ(b.connect_timeout->value, std::chrono::milliseconds(250));
  EXPECT_EQ(b.idle_timeout->value, std::chrono::seconds(10));
  EXPECT_EQ(b.health_check->expected_statuses[1].value, 204);
  EXPECT_EQ(b.circuit_breaker->consecutive_errors->value, 3);
  EXPECT_EQ(b.retry_policy->max_retries->value, 2);
}

TEST(Decode, EndpointsOfABackend) {
  const Decoded d(header("ProxyBackend") + "spec: {endpoints: [{address: '[::1]:80'}, {address: '127.0.0.1:9101'}]}\n");
  EXPECT_EQ(d.faults(), "");
  ASSERT_EQ(d.resources.backends.size(), 1U);
  const std::vector<StaticEndpoint>& endpoints = d.resources.backends[0].endpoints;
  ASSERT_EQ(endpoints.size(), 2U);
  EXPECT_EQ(endpoints[0].address, *parse_ip("::1"));
  EXPECT_EQ(endpoints[1].port, 9101);
}

TEST(Decode, PoliciesOfEveryType) {
  const auto policy = [](std::string_view type, std::string_view settings) {
    return header("ProxyPolicy") + "spec:\n  type: " + std::string(type) +
           "\n  targetRef: {kind: ProxyRoute, name: api}\n  " + std::string(settings) + "\n---\n";
  };
  const Decoded d(
      policy("BasicAuth", "basicAuth: {realm: R, secretRef: {name: s}, stripAuth: true}") +
      policy("ForwardAuth",
             "forwardAuth: {address: 'http://auth:9000/verify', authHeaders: [Cookie], responseHeaders: [X-User], "
             "timeout: 1s, cacheTTL: 1m}") +
      policy("OIDC",
             "oidc: {provider: generic, issuerURL: 'https://id.example.com', clientID: c, clientSecretRef: {name: s}, "
             "redirectURL: 'https://a/oauth2/callback', scopes: [openid], sessionSecretRef: {name: t}, forwardHeaders: "
             "[X-A], authorization: {requiredRoles: [r], requiredGroups: [g], mode: all}}") +
      policy("JWT",
             "jwt: {issuer: i, audience: [a], jwksUri: 'https://id/keys', headerName: X-T, headerPrefix: 'T ', "
             "allowedAlgorithms: [RS256, ES256]}") +
      policy("RateLimit", "rateLimit: {requestsPerSecond: 10, burst: 20, key: 'header:X-Key'}") +
      policy("CORS",
             "cors: {allowOrigins: ['*'], allowMethods: [GET], allowHeaders: [A], exposeHeaders: [B], maxAge: 86400s, "
             "allowCredentials: false}") +
      policy("SecurityHeaders",
             "securityHeaders: {hsts: {enabled: true, maxAge: 31536000, includeSubDomains: true, preload: false}, "
             "xFrameOptions: DENY, xContentTypeOptions: true, referrerPolicy: no-referrer}") +
      policy("IPAccess", "ipAccess: {allow: [10.0.0.0/8], deny: [10.1.0.0/16]}") +
      policy("ConcurrencyLimit", "concurrencyLimit: {limits: [{requests: 3, keys: [path, host]}], statusCode: 429}") +
      policy("ClientCertificate", "clientCertificate: {allow: {uris: ['spiffe://a'], ipAddresses: [10.0.0.0/8]}}") +
      policy("RequestFilter", "requestFilter: {maxBodySize: 1Ki, denyHeaders: [{pattern: a}, {name: B, pattern: c}]}"));
  EXPECT_EQ(d.faults(), "");
  ASSERT_EQ(d.resources.policies.size(), 11U);
  EXPECT_EQ(std::get<ClientCertificate>(d.resources.policies[9].settings).allow->uris.size(), 1U);
  EXPECT_EQ(std::get<RequestFilter>(d.resources.policies[10].settings).max_body_size->value, 1024U);
  EXPECT_EQ(std::get<RequestFilter>(d.resources.policies[10].settings).headers[1].name->value, "B");
  EXPECT_EQ(std::get<ConcurrencyLimit>(d.resources.policies[8].settings).limits[0].keys.size(), 2U);
  EXPECT_EQ(std::get<RateLimit>(d.resources.policies[4].settings).burst->value, 20);
  EXPECT_EQ(std::get<Oidc>(d.resources.policies[2].settings).required_groups.size(), 1U);
}

TEST(Decode, KindsOfKubernetes) {
  const Decoded d(R"({"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "api", "resourceVersion": "5"},
   "spec": {"clusterIP": "10.0.0.1", "ports": [{"name": "web", "port": 80, "targetPort": "http", "protocol": "TCP"},
     {"name": "dns", "port": 53, "protocol": "UDP"}]}},
  {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
   "metadata": {"name": "api-1", "labels": {"kubernetes.io/service-name": "api"}}, "addressType": "IPv4",
   "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": false}, "nodeName": "n"},
                 {"addresses": ["127.0.0.2"]}], "ports": [{"name": "web", "port": 8080}]},
  {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "old"},
   "subsets": [{"addresses": [{"ip": "::1"}], "notReadyAddresses": [{"ip": "::2"}], "ports": [{"port": 1}]}]},
  {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "type": "Opaque", "data": {"htpasswd": "eA=="}},
  {"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant", "metadata": {"name": "g"},
   "spec": {"from": [{"group": "edgeproxy.io", "kind": "ProxyRoute", "namespace": "shop"}],
            "to": [{"group": "", "kind": "Service"}]}}
]})");
  EXPECT_EQ(d.faults(), "");
  ASSERT_EQ(d.resources.services.size(), 1U);
  EXPECT_EQ(d.resources.services[0].ports.size(), 1U);
  EXPECT_EQ(d.resources.services[0].ports[0].target.name, "http");
  ASSERT_EQ(d.resources.slices.size(), 2U);
  EXPECT_FALSE(d.resources.slices[0].addresses[0].ready);
  EXPECT_TRUE(d.resources.slices[0].addresses[1].ready);
  EXPECT_EQ(d.resources.slices[1].service, "old");
  ASSERT_EQ(d.resources.secrets[0].entries.size(), 1U);
  EXPECT_EQ(d.resources.secrets[0].entries[0].key, "htpasswd");
  EXPECT_EQ(d.resources.secrets[0].entries[0].size, 1U);
  EXPECT_EQ(d.resources.grants[0].to[0].kind, "Service");
}

TEST(Decode, FaultsNameFieldValueAndRemedy) {
  struct Case {
    std::string text;
    std::string faults;
  };
  const Case cases[] = {
      {header("ProxyRoute") + "spec: {parentRefs: [{name: w}], hostname: [a], rules: [{}]}\n",
       "EDGE0101 spec.hostname: unknown field `hostname`\n  did you mean `hostnames`?\n"},
      {header("ProxyRoute") + "spec: {parentRefs: [{name: w}], hostnames: a.com, rules: [{}]}\n",
       "EDGE0102 spec.hostnames: expected a list, found the string `a.com`\n  write `[a.com]`\n"},
      {header("ProxyRoute") + "spec: {parentRefs: [{name: w}], hostnames: [a_b.com], rules: [{}]}\n",
       "EDGE0104 spec.hostnames[0]: `a_b.com` is not a host name, or `*.` before one\n"},
      {header("ProxyRoute") + "spec: {rules: [{}]}\n",
       "EDGE0103 spec.parentRefs: the field `parentRefs` is required\n"},
      {header("ProxyRoute") + "status: {}\n", "EDGE0103 spec: the field `spec` is required\n"},
      {header("ProxyRoute") + "sepc: {}\nspec: {parentRefs: [{name: w}], rules: [{}]}\n",
       "EDGE0101 sepc: unknown field `sepc`\n  did you mean `spec`?\n"},
      {route("    - matches: [{}, {path: {type: Prefix, value: /}}]\n"),
       "EDGE0104 spec.rules[0].matches[1].path.type: `Prefix` is not one of `Exact`, `PathPrefix`, "
       "`RegularExpression`\n"},
      {route("    - matches: [{path: {type: exact, value: /}}]\n"),
       "EDGE0104 spec.rules[0].matches[0].path.type: `exact` is not one of `Exact`, `PathPrefix`, "
       "`RegularExpression`\n  did you mean `Exact`?\n"},
      {route("    - matches: [{path: {type: Exact}}]\n"),
       "EDGE0103 spec.rules[0].matches[0].path.value: the field `value` is required with type Exact\n"},
      {route("    - matches: [{path: {value: api}}]\n"),
       "EDGE0104 spec.rules[0].matches[0].path.value: `api` is no path: a path begins with `/`\n  write `/api`\n"},
      {route("    - matches: [{headers: [{name: A}]}]\n"),
       "EDGE0103 spec.rules[0].matches[0].headers[0].value: the field `value` is required unless the type is "
       "Present\n"},
      {route("    - matches: [{headers: [{name: A, value: x, type: Present}]}]\n"),
       "EDGE0106 spec.rules[0].matches[0].headers[0].value: type Present tests presence only and takes no value\n  "
       "leave `value` out, or write type Exact\n"},
      {route("    - matches: [{headers: [{name: A, value: true}]}]\n"),
       "EDGE0102 spec.rules[0].matches[0].headers[0].value: expected a string, found the boolean `true`\n  write "
       "`\"true\"`\n"},
      {route("    - matches: [{headers: [{name: 'A B', value: x}]}]\n"),
       "EDGE0104 spec.rules[0].matches[0].headers[0].name: `A B` is not a header name\n"},
      {route("    - backendRef: {name: a}\n      backendRefs: [{name: b}]\n"),
       "EDGE0106 spec.rules[0].backendRefs: `spec.rules[0].backendRefs` says something else than "
       "`spec.rules[0].backendRef`, which is the same setting\n  keep one of them\n"},
      {route("    - backendRefs: [{name: b, weight: -1}]\n"),
       "EDGE0105 spec.rules[0].backendRefs[0].weight: -1 is out of range: the field takes 0 to 1000000\n"},
      {route("    - backendRefs: [{name: b, weight: '5'}]\n"),
       "EDGE0102 spec.rules[0].backendRefs[0].weight: expected a whole number, found the string `5`\n  write it "
       "without quotes\n"},
      {route("    - backendRefs: [{name: b, weight: 99999999999999999999}]\n"),
       "EDGE0105 spec.rules[0].backendRefs[0].weight: `99999999999999999999` is not a decimal number of 64 bits\n"},
      {route("    - backendRefs: [{name: b, kind: Service}]\n"),
       "EDGE0104 spec.rules[0].backendRefs: a rule refers to a ProxyBackend, not to a Service\n  write a ProxyBackend "
       "for the service and name it here\n"},
      {route("    - limits: {requestTimeout: 5}\n"),
       "EDGE0102 spec.rules[0].limits.requestTimeout: expected a string, found the number `5`\n  write a duration "
       "with its unit: `5s`\n"},
      {route("    - limits: {maxRequestBodySize: 5M}\n"),
       "EDGE0104 spec.rules[0].limits.maxRequestBodySize: `5M` is not a size such as `1024`, `64Ki`, `10Mi` or "
       "`1MB`\n"},
      {route("    - filters: [{type: URLRewrite}]\n"),
       "EDGE0103 spec.rules[0].filters[0].urlRewrite: the field `urlRewrite` is required with type URLRewrite\n"},
      {route("    - filters: [{type: URLRewrite, urlRewrite: {hostname: a.b}, requestRedirect: {port: 1}}]\n"),
       "EDGE0106 spec.rules[0].filters[0].requestRedirect: `requestRedirect` does not go with type URLRewrite\n"},
      {route("    - filters: [{type: RequestRedirect, requestRedirect: {}}]\n"),
       "EDGE0103 spec.rules[0].filters[0].requestRedirect: the redirect changes nothing, so it would never end\n  "
       "give `scheme`, `hostname`, `port` or `path`\n"},
      {route("    - filters: [{type: RequestRedirect, requestRedirect: {port: 1, statusCode: 304}}]\n"),
       "EDGE0104 spec.rules[0].filters[0].requestRedirect.statusCode: `304` is not one of `301`, `302`, `303`, `307`, "
       "`308`\n"},
      {route(
           "    - filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Host, value: a}]}}]\n"),
       "EDGE0104 spec.rules[0].filters[0].requestHeaderModifier: the header `Host` cannot be changed by a header "
       "filter\n  use URLRewrite with `hostname`\n"},
      {route("    - filters: [{type: RequestHeaderModifier, requestHeaderModifier: {remove: [proxy_connection]}}]\n"),
       "EDGE0104 spec.rules[0].filters[0].requestHeaderModifier: the header `proxy_connection` frames the message or "
       "belongs to one hop: no filter changes it\n"},
      {header("ProxyGateway") + "spec: {listeners: [{name: a, port: 0, protocol: HTTP}]}\n",
       "EDGE0105 spec.listeners[0].port: 0 is out of range: the field takes 1 to 65535\n"},
      {header("ProxyGateway") + "spec: {listeners: [{name: a, port: 80, protocol: HTPP}]}\n",
       "EDGE0104 spec.listeners[0].protocol: `HTPP` is not one of `HTTP`, `HTTPS`, `TCP`, `TLS`, `UDP`\n  did you mean "
       "`HTTP`?\n"},
      {header("ProxyGateway") +
           "spec: {listeners: [{name: a, port: 80, protocol: HTTP}, {name: a, port: 81, protocol: HTTP}]}\n",
       "EDGE0203 spec.listeners[1].name: two listeners have the name `a`\n"},
      {header("ProxyGateway") + "spec: {listeners: [{name: a, port: 80, protocol: HTTP, tls: {mode: Terminate}}]}\n",
       "EDGE0106 spec.listeners[0].tls: a listener of protocol HTTP has no TLS settings\n  set protocol to HTTPS or "
       "TLS, or leave `tls` out\n"},
      {header("ProxyBackend") + "spec: {serviceRef: {name: a, port: 80}, connectTimeout: 1s, timeout: {connect: 2s}}\n",
       "EDGE0106 spec.timeout.connect: `spec.timeout.connect` says something else than `spec.connectTimeout`, which is "
       "the same setting\n  keep one of them\n"},
      {header("ProxyBackend") + "spec: {serviceRef: {name: a, port: 70000}}\n",
       "EDGE0105 spec.serviceRef.port: 70000 is out of range: the field takes 1 to 65535\n"},
      {header("ProxyVIP") + "spec: {address: 10.0.0.300/24}\n",
       "EDGE0104 spec.address: `10.0.0.300/24` is not an address with a prefix length, such as `10.0.0.0/8`\n"},
      {header("ProxyVIP") + "spec: {address: 10.0.0.3/24, addressFamily: ipv6}\n",
       "EDGE0106 spec.addressFamily: the address `10.0.0.3/24` is not of the family ipv6\n  write `ipv4`, or leave "
       "the field out\n"},
      {"apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyVIP\nmetadata: {name: Public}\nspec: {address: 10.0.0.3/24}\n",
       "EDGE0104 metadata.name: `Public` is not a name of small letters, digits, `-` and `.` (RFC 1123)\n"},
      {"apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyVIP\nspec: {address: 10.0.0.3/24}\n",
       "EDGE0103 metadata.name: the field `metadata.name` is required\n"},
      {"apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRuote\n",
       "EDGE0004 : unknown kind `ProxyRuote`\n  did you mean `ProxyRoute`?\n"},
      {"apiVersion: edgeproxy.io/v1\nkind: ProxyRoute\n",
       "EDGE0004 : `edgeproxy.io/v1` is not a version of ProxyRoute\n  write `edgeproxy.io/v1alpha1`\n"},
      {"apiVersion: edge.io/v1alpha1\nkind: ProxyRoute\n",
       "EDGE0004 : ProxyRoute is not a kind of `edge.io/v1alpha1`\n  write `edgeproxy.io/v1alpha1`\n"},
      {"{}\n", "EDGE0103 : the field `apiVersion` is required\n"},
      {"kind: ProxyRoute\n", "EDGE0103 : the field `apiVersion` is required\n"},
      {"- a\n", "EDGE0102 : a resource is a map with apiVersion, kind and metadata\n"},
      {"apiVersion: apps/v1\nkind: Deployment\nspec: {}\n",
       "EDGE0005 : `Deployment` of `apps/v1` is not read here; the resource is passed over\n"},
      {"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n",
       "EDGE0103 spec: the field `spec` is required\nEDGE0103 metadata.name: the field `metadata.name` is required\n"},
      {"apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: x}\naddressType: IPv4\n",
       "EDGE0103 metadata.labels: an EndpointSlice names its service by the label `kubernetes.io/service-name`\n"},
  };
  for (const Case& c : cases) {
    const Decoded d(c.text);
    EXPECT_EQ(d.faults(), c.faults) << c.text;
    EXPECT_TRUE(d.resources.routes.empty() && d.resources.gateways.empty() && d.resources.backends.empty() &&
                d.resources.vips.empty() && d.resources.slices.empty())
        << "a resource with a fault was kept:\n"
        << c.text;
  }
}

TEST(Decode, AFilterOfAnHttpRouteWithoutItsSettingsIsAFault) {
  const auto faults_of = [](const std::string& rule) {
    const Decoded d("apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: x}\nspec: {rules: [{" +
                    rule + "}]}\n");
    EXPECT_TRUE(d.resources.api_routes.empty()) << rule;
    return d.faults();
  };
  const std::vector<std::pair<std::string, std::string>> types = {
      {"ExtensionRef", "extensionRef"}, {"ExternalAuth", "externalAuth"}, {"RequestMirror", "requestMirror"}};
  for (const auto& [type, field] : types) {
    const std::string fault = field + ": the field `" + field + "` is required with type " + type + "\n";
    EXPECT_EQ(faults_of("filters: [{type: " + type + "}]"), "EDGE0103 spec.rules[0].filters[0]." + fault);
  }
  EXPECT_NE(faults_of("backendRefs: [{name: b, port: 80, filters: [{type: RequestMirror}]}]"), "");
}

TEST(Decode, NoFilterEditsAReservedHeader) {
  for (const std::string_view name : program::kReservedFields) {
    for (const std::string_view side : {"Request", "Response"}) {
      const std::string key = (side == "Request" ? "request" : "response") + std::string("HeaderModifier");
      const std::string text = route("    - filters: [{type: " + std::string(side) + "HeaderModifier, " + key +
                                     ": {add: [{name: " + std::string(name) + ", value: a}]}}]\n");
      EXPECT_NE(Decoded(text).faults(), "") << name << " of the " << side;
    }
  }
}

TEST(Decode, AMethodInSmallLettersIsQuestioned) {
  const Decoded d(route("    - matches: [{method: get}, {method: PATCH}, {method: mine}]\n"));
  EXPECT_EQ(d.faults(),
            "EDGE0104 spec.rules[0].matches[0].method: methods are case-sensitive: `get` is not GET\n  write `GET`\n");
  EXPECT_EQ(d.resources.routes.size(), 1U);
}

TEST(Decode, ABadResourceLeavesTheOthers) {
  const Decoded d(header("ProxyVIP") + "spec: {address: nonsense}\n---\n" + header("ProxyVIP") +
                  "spec: {address: 10.0.0.1/32}\n");
  EXPECT_EQ(d.resources.vips.size(), 1U);
  EXPECT_EQ(d.diagnostics.errors(), 1U);
}

TEST(Decode, APolicyAtFaultStillNamesItsTarget) {
  const Decoded d(header("ProxyPolicy") +
                  "spec: {type: JWT, targetRef: {kind: ProxyGateway, name: web}, jwt: {issuer: 7}}\n---\n" +
                  header("ProxyPolicy") + "spec: {type: Jvt, targetRef: {kind: ProxyRoute, name: api}}\n---\n" +
                  header("ProxyPolicy") + "spec: {type: JWT, targetRef: {kind: ProxyRoute, name: api}}\n");
  EXPECT_GE(d.diagnostics.errors(), 3U);
  ASSERT_EQ(d.resources.policies.size(), 3U);
  EXPECT_EQ(d.resources.policies[0].type.value, PolicyType::kJwt);
  EXPECT_EQ(d.resources.policies[0].target_kind, PolicyTarget::kGateway);
  EXPECT_EQ(d.resources.policies[1].type.value, PolicyType::kUnknown);
  for (const ProxyPolicy& policy : d.resources.policies) EXPECT_EQ(policy.settings.index(), 0U);
}

TEST(Decode, TwoFormsOfOneSettingBecomeOne) {
  const auto gateway = [](std::string_view tls, std::string_view rest = "") {
    return Decoded(header("ProxyGateway") + "spec:\n  listeners:\n    - {name: a, port: 80, protocol: HTTP}\n" +
                   "    - {name: b, port: 443, protocol: HTTPS, tls: {" + std::string(tls) + "}}\n" +
                   std::string(rest));
  };
  for (const char* tls :
       {"secretRef: {name: c}", "certificateRefs: [{name: c}]", "secretRef: {name: c}, certificateRefs: [{name: c}]"}) {
    const Decoded d = gateway(tls);
    ASSERT_EQ(d.faults(), "");
    const auto& certificates = d.resources.gateways[0].listeners[1].tls->certificates;
    ASSERT_EQ(certificates.size(), 1U) << tls;
    EXPECT_EQ(certificates[0].name.value, "c");
  }
  const Decoded different = gateway("secretRef: {name: c}, certificateRefs: [{name: d}]");
  ASSERT_EQ(different.diagnostics.all().size(), 1U);
  EXPECT_EQ(different.diagnostics.all()[0].code, DiagnosticCode::kExclusiveFields);
  EXPECT_EQ(different.diagnostics.all()[0].labels.size(), 1U);

  const Decoded spread = gateway("secretRef: {name: c}", "  redirectScheme: {enabled: true}\n");
  ASSERT_EQ(spread.faults(), "");
  EXPECT_TRUE(spread.resources.gateways[0].listeners[0].redirect_scheme->enabled->value);
  EXPECT_FALSE(spread.resources.gateways[0].listeners[1].redirect_scheme);

  const auto backend = [](std::string_view spec) {
    return Decoded(header("ProxyBackend") + "spec:\n  serviceRef: {name: a, port: 1}\n" + std::string(spec));
  };
  EXPECT_EQ(backend("  connectTimeout: 1s\n  timeout: {connect: 1000ms}\n").faults(), "");
  EXPECT_EQ(backend("  circuitBreaker: {consecutiveFailures: 3}\n")
                .resources.backends[0]
                .circuit_breaker->consecutive_errors->value,
            3);
  EXPECT_EQ(backend("  healthCheck: {httpPath: /a, httpHealthCheck: {path: /b}}\n").faults(),
            "EDGE0106 spec.healthCheck.httpPath: `spec.healthCheck.httpPath` says something else than "
            "`spec.healthCheck.httpHealthCheck.path`, which is the same setting\n  keep one of them\n");
}

TEST(Decode, ClustersAndWanWithEveryRule) {
  const auto faults = [](std::string_view kind, std::string_view spec) {
    return Decoded(header(kind) + "spec: " + std::string(spec) + "\n").faults();
  };
  const std::string tls = "tls: {clientSecretRef: {name: c}";
  EXPECT_EQ(faults("EdgeRemoteCluster", "{controllerAddress: 'c.example:9090', " + tls + "}}"), "");
  EXPECT_NE(faults("EdgeRemoteCluster", "{controllerAddress: 'c.example', " + tls + "}}"), "");
  EXPECT_EQ(faults("EdgeRemoteCluster", "{controllerAddress: '[::1]:1', " + tls + ", serverName: '*.example'}}"),
            "EDGE0104 spec.tls.serverName: a wildcard is no name that a certificate can be checked for\n");
  EXPECT_NE(
      faults("EdgeRemoteCluster", "{controllerAddress: 'a:1', " + tls + "}, heartbeat: {interval: 10s, timeout: 10s}}"),
      "");
  EXPECT_EQ(
      faults("EdgeCluster", "{version: 0.1.0, controller: {hub: {joinSecretRef: {name: j}}}}"),
      "EDGE0103 spec.controller.stateClaim: a cluster with a hub needs a volume for what it comes back to the hub "
      "with\n");
  EXPECT_EQ(faults("EdgeCluster", "{version: 0.1.0, controller: {stateClaim: s, hub: {joinSecretRef: {name: j}}}}"),
            "");
  EXPECT_EQ(faults("WANLink", "{siteRef: a, probe: {protocol: ICMP}}"),
            "EDGE0103 spec.probe.targets: the field `targets` is required with protocol ICMP\n"
            "  name the addresses that are probed, or leave the protocol out to measure the tunnels\n");
  EXPECT_EQ(faults("WANPolicy", "{path: {}, matches: [{protocols: [ICMP], ports: [1]}]}"),
            "EDGE0106 spec.matches[0].ports: ICMP has no ports\n  leave `ports` out, or add TCP or UDP\n");
  const Decoded link(header("WANLink") + "spec: {siteRef: edge-system/hamburg, thresholds: {maxLoss: 12.5%}}\n");
  ASSERT_EQ(link.faults(), "");
  EXPECT_EQ(link.resources.wan_links[0].site.name_space, "edge-system");
  EXPECT_EQ(link.resources.wan_links[0].thresholds.max_loss->value, 12'500);
  EXPECT_EQ(Decoded(header("EdgeCluster") + "spec: {version: 0.1.0, agents: {updateStrategy: {maxUnavailable: 10%}}}\n")
                .resources.edge_clusters[0]
                .agents.max_unavailable->value,
            "10%");
}

TEST(Decode, Percentages) {
  for (const char* text : {"0%", "0.5%", "99.999%", "100%", "100.0%"}) {
    EXPECT_TRUE(has_format(text, schemas::Format::kPercent)) << text;
  }
  for (const char* text : {"", "%", "5", ".5%", "5.%", "100.1%", "101%", "007%", "0.1234%", "-1%", "1e1%"}) {
    EXPECT_FALSE(has_format(text, schemas::Format::kPercent)) << text;
  }
}

TEST(Decode, HoldsItsLimits) {
  std::string many = "    - {}\n";
  for (int i = 0; i < 4096; ++i) many += "    - {}\n";
  EXPECT_EQ(Decoded(route(many)).faults(), "EDGE0704 spec.rules: the list has 4097 entries; at most 4096 are taken\n");
  std::string headers = "    - matches: [{headers: [";
  for (int i = 0; i < 257; ++i) headers += "{name: A, type: Present}, ";
  EXPECT_EQ(Decoded(route(headers + "]}]\n")).faults(),
            "EDGE0704 spec.rules[0].matches[0].headers: the list has 257 entries; at most 256 are taken\n");
  std::string hosts = header("ProxyRoute") + "spec: {parentRefs: [{name: w}], rules: [{}], hostnames: [a.com";
  for (int i = 0; i < 1024; ++i) hosts += ", a.com";
  EXPECT_EQ(Decoded(hosts + "]}\n").faults(),
            "EDGE0704 spec.hostnames: the list has 1025 entries; at most 1024 are taken\n");
  std::string listeners = header("ProxyGateway") + "spec:\n  listeners:\n";
  for (int i = 0; i < 257; ++i) listeners += "    - {name: l" + std::to_string(i) + ", port: 80, protocol: HTTP}\n";
  EXPECT_EQ(Decoded(listeners).faults(), "EDGE0704 spec.listeners: the list has 257 entries; at most 256 are taken\n");
}

TEST(Decode, PlainScalarsReadAsYamlHasThem) {
  for (const char* text : {"1", "-1", "+1", "0", "007", "0x1F", "0o17"}) {
    EXPECT_EQ(plain_type(text), PlainType::kInteger) << text;
  }
  for (const char* text : {"1.5", ".5", "1.", "1e3", "-1.5E-3", ".inf", "-.inf", ".nan"}) {
    EXPECT_EQ(plain_type(text), PlainType::kFloat) << text;
  }
  for (const char* text : {"", "-", "a", "1.2.3.4", "10s", "1e", "0x", "yes", "2026-01-01", "e3", "+.", "0o8"}) {
    EXPECT_EQ(plain_type(text), PlainType::kString) << text;
  }
}

// Mutations of valid resources give resources or diagnostics, never a crash.
TEST(Decode, TakesAnyMutation) {
  const std::string seed =
      route(
          "    - matches: [{path: {type: Exact, value: /a}, headers: [{name: A, value: b}], method: GET}]\n"
          "      filters: [{type: RequestRedirect, requestRedirect: {port: 1, statusCode: 301}}]\n"
          "      limits: {requestTimeout: 5s, maxRequestBodySize: 1Mi}\n") +
      "---\n" + header("ProxyGateway") +
      "spec: {vipRef: a/b, listeners: [{name: a, port: 80, protocol: HTTP}]}\n---\n" + header("ProxyPolicy") +
      "spec: {type: JWT, targetRef: {kind: ProxyRoute, name: x}, jwt: {issuer: i}}\n---\n" +
      "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: []}}]\n";
  const std::string_view pieces[] = {"{}", "[]",  "null", "~", "1", "true", "\"\"", "a",   "[{}]", "{a: b}",
                                     "-1", "1.5", "/",    "*", ":", ",",    "\n",   "x: ", "- "};
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::string text = seed;
    for (unsigned n = 1 + random() % 4; n > 0; --n) {
      const std::size_t at = random() % text.size();
      text.replace(at, random() % 8, pieces[random() % std::size(pieces)]);
    }
    const Decoded d(text);
    for (const Diagnostic& diagnostic : d.diagnostics.all()) {
      if (diagnostic.span.somewhere()) EXPECT_LE(diagnostic.span.end, text.size() + 1);
      render(diagnostic, d.sources, Colour::kNo);
    }
  }
}

}  // namespace
}  // namespace edge::compiler::model
