#include "compiler/link/link.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/units.h"
#include "compiler/link/defaults.h"
#include "compiler/link/dump/dump.h"
#include "compiler/link/path_value.h"
#include "compiler/model/decode.h"
#include "schemas/schema.h"

namespace edge::compiler::link {
namespace {

struct Linked {
  explicit Linked(std::string text) {
    sources.add("t.yaml", std::move(text));
    config = link(model::decode_all(sources, diagnostics), diagnostics);
    diagnostics.finish(sources);
  }
  /// `EDGE0201 Kind ns/name field: message`, errors and warnings; what is not served is left out unless asked for.
  std::string faults(bool with_unserved = false) const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) {
      if (d.code == DiagnosticCode::kNotServed && !with_unserved) continue;
      all += code_text(d.code) + (d.severity == Severity::kWarning ? "w " : " ") + d.resource + " " + d.field + ": " +
             d.message + "\n";
    }
    return all;
  }
  const LinkedRoute& route(std::string_view name) const {
    for (const LinkedRoute& r : config.routes) {
      if (r.identity.name == name) return r;
    }
    throw std::out_of_range(std::string(name));
  }
  std::string listeners(std::string_view name) const {
    std::string all;
    for (const std::uint32_t l : route(name).listeners) all += config.listeners[l].name + " ";
    return all;
  }
  SourceMap sources;
  Diagnostics diagnostics;
  LinkedConfig config;
};

/// A resource; `name` may be `namespace/name`, and may be followed by `@` and a year of creation.
std::string resource(std::string_view kind, std::string_view name, std::string_view spec) {
  std::string created;
  if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
    created = ", creationTimestamp: \"" + std::string(name.substr(at + 1)) + "-01-01T00:00:00Z\"";
    name = name.substr(0, at);
  }
  const std::size_t slash = name.find('/');
  const std::string space = slash == std::string_view::npos ? "shop" : std::string(name.substr(0, slash));
  const std::string own = slash == std::string_view::npos ? std::string(name) : std::string(name.substr(slash + 1));
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: " + std::string(kind) + "\nmetadata: {name: " + own +
         ", namespace: " + space + created + "}\nspec: {" + std::string(spec) + "}\n";
}
std::string gateway(std::string_view name,
                    std::string_view spec = "listeners: [{name: http, port: 80, protocol: HTTP}]") {
  return resource("ProxyGateway", name, spec);
}
std::string route(std::string_view name, std::string_view rules, std::string_view more = "parentRefs: [{name: web}]") {
  return resource("ProxyRoute", name, std::string(more) + ", rules: [" + std::string(rules) + "]");
}
std::string backend(std::string_view name, std::string_view spec = "serviceRef: {name: svc, port: 80}") {
  return resource("ProxyBackend", name, spec);
}
std::string service(std::string_view space = "shop", std::string_view ports = "{port: 80}") {
  return "---\napiVersion: v1\nkind: Service\nmetadata: {name: svc, namespace: " + std::string(space) +
         "}\nspec: {ports: [" + std::string(ports) + "]}\n";
}
std::string slice(std::string_view endpoints, std::string_view ports = "{port: 8080}",
                  std::string_view name = "svc-1") {
  return "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " + std::string(name) +
         ", namespace: shop, labels: {kubernetes.io/service-name: svc}}\naddressType: IPv4\nendpoints: [" +
         std::string(endpoints) + "]\nports: [" + std::string(ports) + "]\n";
}
std::string grant(std::string_view space, std::string_view from_kind, std::string_view to) {
  return "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: " +
         std::string(space) + "}\nspec: {from: [{group: edgeproxy.io, kind: " + std::string(from_kind) +
         ", namespace: shop}], to: [" + std::string(to) + "]}\n";
}
const std::string kBackend = backend("b") + service() + slice("{addresses: [127.0.0.1]}");

TEST(Link, ResolvesAWholeConfiguration) {
  const Linked l(gateway("web") + kBackend + route("r", "{matches: [{path: {value: /a/}}], backendRef: {name: b}}"));
  EXPECT_EQ(l.faults(true), "");
  EXPECT_EQ(dump(l.config),
            "gateway shop/web\n  address any\n"
            "listener shop/web http\n  HTTP port 80\n  hosts *\n  max-request-body 10485760\n"
            "backend shop/b\n  balance RoundRobin\n  connections max 1000 pending 100 requests-each 0 idle 128\n"
            "  timeouts connect 5s request 0s idle 1m per-try 0s\n  endpoint 127.0.0.1 8080\n"
            "route shop/r\n  hosts *\n  on shop/web http\n  rule 0\n    match path prefix \"/a\"\n"
            "    backend shop/b weight 1\n");
}

TEST(Link, TheOrderOfDocumentsNeverShows) {
  std::vector<std::string> documents = {
      gateway("web"),
      gateway("web2@2020", "listeners: [{name: a, port: 80, protocol: HTTP}]"),
      backend("b"),
      backend("c", "serviceRef: {name: none, port: 1}"),
      service(),
      slice("{addresses: [127.0.0.2, 127.0.0.1]}"),
      slice("{addresses: [127.0.0.1], conditions: {ready: false}}", "{port: 8080}", "x"),
      route("r2", "{backendRef: {name: b}}"),
      route("r1", "{backendRefs: [{name: c}, {name: zz}]}"),
      route("r3", "{matches: [{path: {value: '/a?b'}}]}")};
  std::mt19937 random(3);
  std::string first;
  for (int round = 0; round < 40; ++round) {
    std::shuffle(documents.begin(), documents.end(), random);
    std::string text;
    for (const std::string& document : documents) text += document;
    const Linked l(text);
    std::vector<std::string> faults;
    for (const Diagnostic& d : l.diagnostics.all()) faults.push_back(d.resource + d.message);
    std::sort(faults.begin(), faults.end());
    std::string all = dump(l.config);
    for (const std::string& fault : faults) all += fault + "\n";
    if (round == 0) first = all;
    ASSERT_EQ(all, first);
  }
}

TEST(Link, DoublesAreReportedWithBothPlaces) {
  const Linked l(gateway("web") + kBackend + route("r@2025", "{backendRef: {name: b}}") +
                 route("r@2021", "{matches: [{path: {value: /old}}], backendRef: {name: b}}"));
  EXPECT_EQ(l.faults(),
            "EDGE0006 ProxyRoute shop/r metadata.name: the resource is given twice; this one is left out\n");
  EXPECT_EQ(l.diagnostics.all()[0].labels[0].text, "the older one holds");
  ASSERT_EQ(l.config.routes.size(), 1U);
  EXPECT_EQ(l.config.routes[0].rules[0].matches[0].path.value.value, "/old");
}

TEST(Link, RouteWithAnUnknownGatewayAttachesNowhere) {
  const Linked l(gateway("web") + kBackend + route("r", "{backendRef: {name: b}}", "parentRefs: [{name: wab}]"));
  EXPECT_EQ(l.faults(),
            "EDGE0201 ProxyRoute shop/r spec.parentRefs[0].name: there is no ProxyGateway `wab` in the namespace "
            "`shop`\n");
  EXPECT_EQ(l.diagnostics.all()[0].fix, "did you mean `web`?");
  EXPECT_TRUE(l.route("r").listeners.empty());
}

TEST(Link, AReferenceToWhatIsLeftOutSaysSo) {
  const Linked l(gateway("web", "listeners: [{name: http, port: 0, protocol: HTTP}]") + kBackend +
                 route("r", "{matches: [{path: {value: '/%'}}], backendRef: {name: b}}") +
                 route("s", "{backendRef: {name: b}}") +
                 resource("ProxyPolicy", "p", "type: CORS, targetRef: {kind: ProxyRoute, name: r}, cors: {}"));
  EXPECT_EQ(l.faults(),
            "EDGE0105 ProxyGateway shop/web spec.listeners[0].port: 0 is out of range: the field takes 1 to 65535\n"
            "EDGE0104 ProxyRoute shop/r spec.rules[0].matches[0].path.value: `/%` is no path that a request can have\n"
            "EDGE0201 ProxyRoute shop/s spec.parentRefs[0].name: the ProxyGateway `web` is left out because of its own "
            "faults\n"
            "EDGE0201 ProxyPolicy shop/p spec.targetRef.name: the ProxyRoute `r` is left out because of its own "
            "faults\n");
}

TEST(Link, RoutesAttachToTheListenersThatTheyName) {
  const std::string two = gateway("web",
                                  "listeners: [{name: a, port: 80, protocol: HTTP, hostnames: ['*.a.com']}, {name: b, "
                                  "port: 81, protocol: HTTP}, {name: c, port: 80, protocol: HTTP}]");
  const auto attach = [&](std::string_view more) {
    return Linked(two + kBackend + route("r", "{backendRef: {name: b}}", more));
  };
  EXPECT_EQ(attach("parentRefs: [{name: web}]").listeners("r"), "a b c ");
  EXPECT_EQ(attach("parentRefs: [{name: web, sectionName: b}]").listeners("r"), "b ");
  EXPECT_EQ(attach("parentRefs: [{name: web, port: 80}]").listeners("r"), "a c ");
  EXPECT_EQ(attach("parentRefs: [{name: web}, {name: web, port: 80}]").listeners("r"), "a b c ");
  EXPECT_EQ(attach("parentRefs: [{name: web}], hostnames: [x.b.com]").listeners("r"), "b c ");
  EXPECT_EQ(attach("parentRefs: [{name: web, sectionName: zz}]").faults(),
            "EDGE0204w ProxyRoute shop/r spec.parentRefs[0].sectionName: ProxyGateway shop/web serves no such "
            "listener; the route does not attach there\n");
  const Linked apart = attach("parentRefs: [{name: web, sectionName: a}], hostnames: [a.com]");
  EXPECT_EQ(apart.listeners("r"), "");
  EXPECT_EQ(apart.faults(),
            "EDGE0204w ProxyRoute shop/r spec.hostnames: no listener of ProxyGateway shop/web serves any of the "
            "route's hostnames\n");
}

TEST(Link, UnresolvedBackendsKeepTheirWeight) {
  const Linked l(gateway("web") + kBackend + backend("d", "serviceRef: {name: none, port: 80}") +
                 backend("p", "serviceRef: {name: svc, port: 99}") +
                 route("r", "{backendRefs: [{name: b, weight: 0}, {name: zz, weight: 3}, {name: d}, {name: p}]}"));
  EXPECT_EQ(l.faults(),
            "EDGE0201 ProxyBackend shop/d spec.serviceRef.name: there is no Service `none` in the namespace `shop`\n"
            "EDGE0201 ProxyBackend shop/p spec.serviceRef.port: Service shop/svc has no TCP port 99\n"
            "EDGE0201 ProxyRoute shop/r spec.rules[0].backendRefs[1].name: there is no ProxyBackend `zz` in the "
            "namespace `shop`\n");
  const auto& refs = l.route("r").rules[0].backends;
  ASSERT_EQ(refs.size(), 4U);
  EXPECT_EQ(refs[0].backend, 0U);
  EXPECT_EQ(refs[0].weight, 0U);
  EXPECT_FALSE(refs[1].backend);
  EXPECT_EQ(refs[1].weight, 3U);
  EXPECT_FALSE(refs[2].backend);
  EXPECT_FALSE(refs[3].backend);
}

TEST(Link, EndpointsComeFromSlicesByPortName) {
  const auto endpoints = [](const std::string& text) {
    const Linked l(gateway("web") + text);
    std::string all;
    for (const auto& entry : l.config.endpoints.backends) {
      for (const auto& e : entry.endpoints) {
        all += to_string(e.address) + ":" + std::to_string(e.port) + (e.ready ? " " : "! ");
      }
    }
    return all + l.faults();
  };
  const std::string ports = "{name: web, port: 80, targetPort: http}, {name: admin, port: 81}";
  EXPECT_EQ(endpoints(backend("b") + service("shop", ports) +
                      slice("{addresses: [10.0.0.2]}, {addresses: [10.0.0.1], conditions: {ready: false}}",
                            "{name: web, port: 8080}, {name: admin, port: 9000}")),
            "10.0.0.1:8080! 10.0.0.2:8080 ");
  EXPECT_EQ(endpoints(backend("b", "serviceRef: {name: svc, port: admin}") + service("shop", ports) +
                      slice("{addresses: [10.0.0.2]}", "{name: web, port: 8080}, {name: admin, port: 9000}")),
            "10.0.0.2:9000 ");
  // Overlapping slices: the ready one holds.
  EXPECT_EQ(endpoints(backend("b") + service() + slice("{addresses: [10.0.0.2], conditions: {ready: false}}") +
                      slice("{addresses: [10.0.0.2]}", "{port: 8080}", "svc-2")),
            "10.0.0.2:8080 ");
  EXPECT_EQ(endpoints(backend("b") + service()),
            "EDGE0205w ProxyBackend shop/b spec.serviceRef: Service shop/svc has no endpoints for this port; requests "
            "are answered 503\n");
}

TEST(Link, ReferencesCrossNamespacesOnlyWhereGranted) {
  const std::string base = gateway("web") + gateway("infra/web") + backend("infra/b") + service("infra");
  const std::string crossing =
      route("r", "{backendRef: {name: b, namespace: infra}}", "parentRefs: [{name: web, namespace: infra}]");
  const Linked refused(base + crossing);
  EXPECT_NE(refused.faults().find("EDGE0202 ProxyRoute shop/r spec.parentRefs[0].name: the ProxyGateway `infra/web` is "
                                  "in another namespace, and no ReferenceGrant there allows the reference\n"),
            std::string::npos)
      << refused.faults();
  EXPECT_TRUE(refused.route("r").listeners.empty());
  EXPECT_FALSE(refused.route("r").rules[0].backends[0].backend);

  const Linked half(base + crossing +
                    grant("infra", "ProxyRoute", "{group: edgeproxy.io, kind: ProxyBackend, name: b}"));
  EXPECT_TRUE(half.route("r").listeners.empty());
  EXPECT_TRUE(half.route("r").rules[0].backends[0].backend);
  const Linked other(base + crossing +
                     grant("infra", "ProxyRoute", "{group: edgeproxy.io, kind: ProxyBackend, name: c}"));
  EXPECT_FALSE(other.route("r").rules[0].backends[0].backend);
  const Linked wrong_kind(base + crossing + grant("infra", "ProxyPolicy", "{group: edgeproxy.io, kind: ProxyBackend}"));
  EXPECT_FALSE(wrong_kind.route("r").rules[0].backends[0].backend);

  const std::string far = backend("b", "serviceRef: {name: svc, namespace: infra, port: 80}") + service("infra");
  EXPECT_TRUE(Linked(far).config.backends.empty());
  EXPECT_EQ(Linked(far + grant("infra", "ProxyBackend", "{group: '', kind: Service}")).config.backends.size(), 1U);
}

TEST(Link, GatewaysBindTheirVip) {
  const auto vip = [](std::string_view name, std::string_view spec) { return resource("ProxyVIP", name, spec); };
  const std::string refers = gateway("web", "vipRef: v, listeners: [{name: http, port: 80, protocol: HTTP}]");
  const Linked own(refers + vip("v", "address: 10.0.0.5/24") + vip("edge-system/v", "address: 10.0.0.6/24"));
  EXPECT_EQ(own.faults(), "");
  EXPECT_EQ(to_string(own.config.gateways[0].addresses[0]), "10.0.0.5");
  const Linked shared(refers + vip("edge-system/v", "address: 10.0.0.6/24"));
  EXPECT_EQ(to_string(shared.config.gateways[0].addresses[0]), "10.0.0.6");
  // Without its VIP a gateway must not bind every address instead.
  const Linked dangling(refers + vip("other/v", "address: 10.0.0.6/24"));
  EXPECT_EQ(dangling.faults(),
            "EDGE0201 ProxyGateway shop/web spec.vipRef: there is no ProxyVIP `v` in the namespace `shop`\n");
  EXPECT_TRUE(dangling.config.listeners.empty());
  const std::string far = gateway("web", "vipRef: other/v, listeners: [{name: http, port: 80, protocol: HTTP}]");
  EXPECT_TRUE(Linked(far + vip("other/v", "address: 10.0.0.6/24")).config.listeners.empty());
  EXPECT_EQ(Linked(far + vip("other/v", "address: 10.0.0.6/24") +
                   grant("other", "ProxyGateway", "{group: edgeproxy.io, kind: ProxyVIP}"))
                .config.listeners.size(),
            1U);
  EXPECT_EQ(Linked(refers + vip("v", "address: 10.0.0.5/24, ports: [443]")).faults(),
            "EDGE0203w ProxyGateway shop/web spec.listeners[0].port: port 80 is not among the ports of ProxyVIP "
            "shop/v\n");
}

TEST(Link, GatewaysOfAnotherClassAreLeftToTheirController) {
  const auto listeners = [](std::string_view spec) {
    return Linked(gateway("web", std::string(spec) + "listeners: [{name: http, port: 80, protocol: HTTP}]"))
        .config.listeners.size();
  };
  EXPECT_EQ(listeners("loadBalancerClass: edgeproxy.io/proxy, "), 1U);
  EXPECT_EQ(listeners("loadBalancerClass: example.com/other, "), 0U);
}

/// The agents of one class are no place for the passwords of another.
TEST(Link, SecretsOfWhatNoListenerOfOursServesAreNotCollected) {
  const auto collected = [](const std::string& gateway_spec, const std::string& target) {
    const Linked linked(
        gateway("web", gateway_spec + "listeners: [{name: http, port: 80, protocol: HTTP}]") + kBackend +
        route("r", "{backendRef: {name: b}}") +
        resource("ProxyPolicy", "p",
                 "targetRef: {" + target + "}, type: BasicAuth, basicAuth: {secretRef: {name: users}}") +
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: shop}\ntype: Opaque\n"
        "stringData: {htpasswd: 'a:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC'}\n");
    EXPECT_EQ(linked.config.policies.size(), 1U) << linked.faults();
    return linked.config.secrets.secrets.size();
  };
  const std::string theirs = "loadBalancerClass: example.com/other, ";
  for (const std::string target : {"kind: ProxyGateway, name: web", "kind: ProxyRoute, name: r"}) {
    EXPECT_EQ(collected("", target), 1U) << target;
    EXPECT_EQ(collected(theirs, target), 0U) << target;
  }
}

TEST(Link, TheOlderGatewayHoldsWhatTwoClaim) {
  const auto listener = [](std::string_view hosts, std::string_view protocol = "HTTP") {
    return "listeners: [{name: l, port: 80, protocol: " + std::string(protocol) + ", hostnames: [" +
           std::string(hosts) + "]}]";
  };
  const auto held = [](const Linked& l) {
    std::string all;
    for (const LinkedListener& x : l.config.listeners) all += l.config.gateways[x.gateway].identity.name + " ";
    return all;
  };
  EXPECT_EQ(held(Linked(gateway("a@2024", listener("a.com")) + gateway("b@2020", listener("b.com")))), "a b ");
  const Linked twice(gateway("a@2024", listener("a.com, c.com")) + gateway("b@2020", listener("c.com")));
  EXPECT_EQ(held(twice), "b ");
  EXPECT_EQ(twice.faults(),
            "EDGE0203 ProxyGateway shop/a spec.listeners[0].hostnames: `c.com` on port 80 is already claimed; the "
            "listener is left out\n");
  EXPECT_EQ(held(Linked(gateway("b", listener("")) + gateway("a", listener("")))), "a ");
  EXPECT_EQ(held(Linked(gateway("a@2024", listener("a.com")) + gateway("b@2020", listener("b.com", "TLS")))), "b ");
  // On different addresses there is nothing to share.
  EXPECT_EQ(held(Linked(
                gateway("a", "vipRef: v, " + listener("a.com")) + gateway("b", "vipRef: w, " + listener("a.com")) +
                resource("ProxyVIP", "v", "address: 10.0.0.1/32") + resource("ProxyVIP", "w", "address: 10.0.0.2/32"))),
            "a b ");
}

TEST(Link, PathsAreNormalisedAsRequestsAre) {
  EXPECT_EQ(path_value("/a/%7euser/./b/../c"), "/a/~user/c");
  EXPECT_EQ(path_value("/caf\xc3\xa9 x"), "/caf%C3%A9%20x");
  EXPECT_EQ(path_value("/a/"), "/a/");
  EXPECT_EQ(prefix_value("/a/"), "/a");
  EXPECT_EQ(prefix_value("/"), "/");
  EXPECT_EQ(prefix_value("/a//b"), "/a//b");
  for (const char* bad : {"/a?b", "/../a", "/a#b", "/%00", "/a\\b"}) EXPECT_FALSE(path_value(bad)) << bad;
  for (const char* bad : {"//", "/a//"}) EXPECT_FALSE(prefix_value(bad)) << bad;
  const Linked l(gateway("web") + kBackend +
                 route("r", "{matches: [{path: {value: '/a?b'}}, {}], backendRef: {name: b}}"));
  EXPECT_EQ(l.faults(),
            "EDGE0104 ProxyRoute shop/r spec.rules[0].matches[0].path.value: `/a?b` is no path that a request can "
            "have\n");
  EXPECT_TRUE(l.config.routes.empty()) << "a fault in a match must refuse the whole route";
}

TEST(Link, FiltersBecomeSteps) {
  const Linked l(
      gateway("web") + kBackend +
      route(
          "r",
          "{matches: [{path: {value: /v1}}], backendRef: {name: b}, filters: [{type: RequestHeaderModifier, "
          "requestHeaderModifier: {remove: [X-C], add: [{name: X-B, value: b}], set: [{name: X-A, value: "
          "'%REQ_ID%'}]}}, "
          "{type: ResponseHeaderModifier, responseHeaderModifier: {remove: [Server]}}, {type: URLRewrite, urlRewrite: "
          "{hostname: In.example.com, path: {type: ReplacePrefixMatch, replacePrefixMatch: /v2/./x}}}]}, "
          "{filters: [{type: RequestRedirect, requestRedirect: {scheme: https, port: 8443, path: {type: "
          "ReplaceFullPath, replaceFullPath: /n}}}, {type: ResponseHeaderModifier, responseHeaderModifier: {remove: "
          "[A]}}]}"));
  EXPECT_EQ(l.faults(), "");
  const std::string text = dump(l.config);
  EXPECT_NE(
      text.find("    filter request-header set \"x-a\" \"%REQ_ID%\"\n    filter request-header add \"x-b\" \"b\"\n"
                "    filter request-header remove \"x-c\"\n    filter response-header remove \"server\"\n"
                "    filter rewrite host \"in.example.com\"\n    filter rewrite prefix \"/v2/x\"\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("    filter response-header remove \"a\"\n    filter redirect scheme \"https\"\n"
                      "    filter redirect path \"/n\"\n    filter redirect status 302 port 8443\n"),
            std::string::npos)
      << text;
  const Linked regex(
      gateway("web") + kBackend +
      route("r",
            "{matches: [{path: {type: RegularExpression, value: ^/a}}], backendRef: {name: b}, filters: "
            "[{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}]}"));
  EXPECT_TRUE(regex.config.routes.empty());
  EXPECT_EQ(regex.diagnostics.all()[0].code, DiagnosticCode::kExclusiveFields);
}

TEST(Link, ARuleThatAnswersNothingIsReported) {
  EXPECT_EQ(
      Linked(gateway("web") + route("r", "{}")).faults(),
      "EDGE0103w ProxyRoute shop/r spec.rules[0].backendRefs: the rule has no backend and no redirect: its requests "
      "are answered 500\n");
}

TEST(Link, PoliciesThatCannotBeEnforcedDeny) {
  const auto policy = [](std::string_view name, std::string_view type, std::string_view target,
                         std::string_view settings) {
    return resource(
        "ProxyPolicy", name,
        "type: " + std::string(type) + ", targetRef: {" + std::string(target) + "}, " + std::string(settings));
  };
  const std::string base = gateway("web") + gateway("web2", "listeners: [{name: h, port: 81, protocol: HTTP}]") +
                           kBackend + route("a", "{backendRef: {name: b}}") +
                           route("c", "{backendRef: {name: b}}", "parentRefs: [{name: web2}]");
  const std::string jwt = "jwt: {issuer: i, jwksUri: 'https://id/k', allowedAlgorithms: [RS256]}";
  const auto denied = [](const Linked& l) {
    return std::string(l.route("a").denied ? "a" : "") + (l.route("c").denied ? "c" : "");
  };
  const Linked sound(base + policy("p", "JWT", "kind: ProxyRoute, name: a", jwt));
  EXPECT_EQ(denied(sound), "");
  EXPECT_EQ(sound.faults(true), "");
  // The secret is not there.
  const std::string basic = "basicAuth: {secretRef: {name: users}}";
  EXPECT_EQ(denied(Linked(base + policy("p", "BasicAuth", "kind: ProxyRoute, name: a", basic))), "a");
  EXPECT_EQ(denied(Linked(base + policy("p", "BasicAuth", "kind: ProxyGateway, name: web2", basic))), "c");
  EXPECT_EQ(denied(Linked(base + policy("p", "BasicAuth", "kind: ProxyGateway, name: web", basic))), "a");
  EXPECT_EQ(denied(Linked(
                base + policy("p", "RateLimit", "kind: ProxyGateway, name: web", "rateLimit: {requestsPerSecond: 1}"))),
            "");
  EXPECT_EQ(denied(Linked(base + policy("p", "CORS", "kind: ProxyRoute, name: a", "cors: {}"))), "");
  // At fault: its settings cannot be read, but what it protects is known.
  EXPECT_EQ(denied(Linked(base + policy("p", "JWT", "kind: ProxyRoute, name: a", "jwt: {issuer: 5}"))), "a");
  EXPECT_EQ(denied(Linked(base + policy("p", "JVT", "kind: ProxyRoute, name: a", "jwt: {}"))), "a");
  // From another namespace nobody may deny.
  const Linked foreign(base + policy("evil/p", "JWT", "kind: ProxyRoute, name: a, namespace: shop", jwt));
  EXPECT_EQ(denied(foreign), "");
  EXPECT_EQ(foreign.diagnostics.all()[0].code, DiagnosticCode::kReferenceNotAllowed);
  EXPECT_EQ(Linked(base + policy("p", "JWT", "kind: ProxyRoute, name: aa", jwt)).faults(),
            "EDGE0201 ProxyPolicy shop/p spec.targetRef.name: there is no ProxyRoute `aa` in the namespace `shop`\n");
  const Linked two(base + policy("p@2024", "JWT", "kind: ProxyRoute, name: a", jwt) +
                   policy("q@2020", "JWT", "kind: ProxyRoute, name: a", jwt));
  EXPECT_EQ(two.faults(),
            "EDGE0203 ProxyPolicy shop/p spec.targetRef: the target already has a policy of type JWT; this one is left "
            "out\n");
}

TEST(Link, EverySettingOfAGatewayIsServed) {
  const Linked l(
      gateway("web",
              "compression: {enabled: true}, cache: {enabled: true}, tracing: {enabled: true}, accessLog: "
              "{enabled: true}, redirectScheme: {enabled: true}, listeners: [{name: a, port: 80, protocol: HTTP, "
              "sslRedirect: true}, {name: b, port: 443, protocol: HTTPS}, {name: c, port: 90, protocol: TCP}]") +
      service() + slice("{addresses: [127.0.0.1]}, {addresses: [127.0.0.2]}") +
      backend("b",
              "serviceRef: {name: svc, port: 80}, lbPolicy: EWMA, healthCheck: {}, passiveHealthCheck: {}, "
              "circuitBreaker: {maxConnections: 5}, retryPolicy: {numRetries: 2}") +
      route("r",
            "{backendRef: {name: b}, retry: {maxRetries: 1}, buffering: {request: true}, filters: [{type: "
            "RequestMirror, requestMirror: {backendRef: {name: b}}}]}"));
  EXPECT_EQ(l.diagnostics.errors(), 0U);
  EXPECT_EQ(l.diagnostics.warnings(), 0U) << l.faults(true);
  EXPECT_EQ(l.config.listeners.size(), 3U);
  EXPECT_EQ(l.config.backends[0].max_connections, 5U);
  EXPECT_EQ(l.config.backends[0].balance, program::Balance::kEwma);
  const Linked off(gateway("web", "compression: {enabled: false}, listeners: [{name: a, port: 80, protocol: HTTP}]"));
  EXPECT_EQ(off.faults(true), "");
}

/// The default that a schema states for spec.<path>.
std::string_view stated(const schemas::Object& kind, std::initializer_list<std::string_view> path) {
  const schemas::Object* object = &kind;
  std::string_view value;
  for (const std::string_view name : path) {
    for (const schemas::Field& field : object->fields) {
      if (field.name != name) continue;
      value = field.default_value;
      object = field.object;
      break;
    }
    if (object == nullptr) break;
  }
  return value;
}

TEST(Defaults, AreThoseThatTheSchemasState) {
  const Defaults& d = kDefaults;
  EXPECT_EQ(stated(schemas::kProxyGateway, {"spec", "listeners", "maxRequestBodySize"}),
            std::to_string(d.gateway_body_limit));
  EXPECT_EQ(stated(schemas::kProxyRoute, {"spec", "rules", "backendRefs", "weight"}), std::to_string(d.weight));
  EXPECT_EQ(stated(schemas::kProxyRoute, {"spec", "rules", "filters", "requestRedirect", "statusCode"}),
            std::to_string(d.redirect_status));
  const auto backend = [](auto... path) { return stated(schemas::kProxyBackend, {"spec", path...}); };
  EXPECT_EQ(parse_duration(backend("connectTimeout")), d.connect_timeout);
  EXPECT_EQ(parse_duration(backend("timeout", "connect")), d.connect_timeout);
  EXPECT_EQ(parse_duration(backend("timeout", "idle")), d.upstream_idle_timeout);
  EXPECT_EQ(parse_duration(backend("connectionPool", "idleConnTimeout")), d.upstream_idle_timeout);
  EXPECT_EQ(backend("connectionLimits", "maxConnections"), std::to_string(d.max_connections));
  EXPECT_EQ(backend("connectionLimits", "maxPendingRequests"), std::to_string(d.max_pending_requests));
  EXPECT_EQ(backend("connectionLimits", "maxRequestsPerConnection"), std::to_string(d.max_requests_per_connection));
  EXPECT_EQ(parse_duration(backend("retryPolicy", "retryBackOff", "baseInterval")), d.backoff_base);
  EXPECT_EQ(parse_duration(backend("retryPolicy", "retryBackOff", "maxInterval")), d.backoff_max);
  EXPECT_EQ(backend("connectionLimits", "maxRetries"), std::to_string(d.max_concurrent_retries));
  EXPECT_EQ(backend("retryPolicy", "retryBudget", "percent"), std::to_string(d.retry_budget_percent));
  EXPECT_EQ(backend("retryPolicy", "retryBudget", "minRetryConcurrency"), std::to_string(d.min_concurrent_retries));
  EXPECT_EQ(backend("connectionPool", "maxIdleConnsPerHost"), std::to_string(d.max_idle_connections));
}

TEST(Defaults, OfChecksAreThoseThatTheSchemasState) {
  const Defaults& d = kDefaults;
  const auto backend = [](auto... path) { return stated(schemas::kProxyBackend, {"spec", path...}); };
  EXPECT_EQ(parse_duration(backend("healthCheck", "interval")), d.probe_interval);
  EXPECT_EQ(parse_duration(backend("healthCheck", "timeout")), d.probe_timeout);
  EXPECT_EQ(backend("healthCheck", "healthyThreshold"), std::to_string(d.healthy_threshold));
  EXPECT_EQ(backend("healthCheck", "unhealthyThreshold"), std::to_string(d.unhealthy_threshold));
  EXPECT_EQ(backend("healthCheck", "httpHealthCheck", "path"), d.probe_path);
  EXPECT_EQ(backend("passiveHealthCheck", "consecutiveErrors"), std::to_string(d.consecutive_errors));
  EXPECT_EQ(parse_duration(backend("passiveHealthCheck", "interval")), d.ejection_interval);
  EXPECT_EQ(parse_duration(backend("passiveHealthCheck", "baseEjectionTime")), d.base_ejection_time);
  EXPECT_EQ(backend("passiveHealthCheck", "maxEjectionPercent"), std::to_string(d.max_ejection_percent));
}

TEST(Defaults, OfGatewaysAreThoseThatTheSchemasState) {
  const Defaults& d = kDefaults;
  const auto gateway = [](auto... path) { return stated(schemas::kProxyGateway, {"spec", path...}); };
  EXPECT_EQ(gateway("redirectScheme", "scheme"), d.redirect_scheme);
  EXPECT_EQ(gateway("redirectScheme", "port"), std::to_string(d.redirect_scheme_port));
  EXPECT_EQ(gateway("redirectScheme", "statusCode"), std::to_string(d.redirect_scheme_status));
  EXPECT_EQ(parse_size(gateway("compression", "minSize")), d.compression_min_size);
  EXPECT_EQ(gateway("compression", "level"), std::to_string(d.compression_level));
  EXPECT_EQ(parse_size(gateway("cache", "maxSize")), d.cache_max_size);
  EXPECT_EQ(parse_size(gateway("cache", "maxEntrySize")), d.cache_max_entry_size);
  EXPECT_EQ(parse_duration(gateway("cache", "maxTTL")), d.cache_max_ttl);
  EXPECT_EQ(gateway("tracing", "samplingRate"), std::to_string(d.sampling_percent));
  EXPECT_EQ(gateway("accessLog", "format"), d.access_log_format);
  EXPECT_EQ(parse_size(gateway("limits", "minRequestBodyRate")), d.client_limits.min_body_rate);
  EXPECT_EQ(parse_duration(gateway("limits", "requestBodyGracePeriod")), d.client_limits.body_grace);
  EXPECT_EQ(gateway("limits", "maxConnectionsPerSource"), std::to_string(d.client_limits.max_connections_per_source));
  EXPECT_EQ(gateway("limits", "maxStreamsPerSource"), std::to_string(d.client_limits.max_streams_per_source));
}

TEST(Defaults, OfPoliciesAreThoseThatTheSchemasState) {
  const Defaults& d = kDefaults;
  const auto policy = [](auto... path) { return stated(schemas::kProxyPolicy, {"spec", path...}); };
  EXPECT_EQ(policy("concurrencyLimit", "statusCode"), std::to_string(d.concurrency_status));
  EXPECT_EQ(policy("basicAuth", "realm"), d.realm);
  EXPECT_EQ(policy("apiKey", "identityHeader"), d.identity_header);
  EXPECT_EQ(policy("apiKey", "stripKey"), d.strip_api_key ? "true" : "false");
  EXPECT_EQ(policy("requestFilter", "statusCode"), std::to_string(d.filter_status));
  EXPECT_EQ(policy("requestFilter", "inspectedBodySize"), std::to_string(d.inspected_body_size >> 10) + "Ki");
  EXPECT_EQ(policy("clientCertificate", "forwardCertificate"), d.forward_certificate ? "true" : "false");
  EXPECT_EQ(parse_duration(policy("forwardAuth", "timeout")), d.forward_auth_timeout);
  EXPECT_EQ(policy("jwt", "headerName"), "Authorization");
  EXPECT_EQ(d.token_header, "authorization");
  EXPECT_EQ(policy("jwt", "headerPrefix"), d.token_prefix);
  EXPECT_EQ(policy("maintenance", "contentType"), d.page_type);
  EXPECT_EQ(policy("errorPages", "pages", "contentType"), d.page_type);
  EXPECT_EQ(policy("fixedResponse", "contentType"), d.text_type);
}

}  // namespace
}  // namespace edge::compiler::link
