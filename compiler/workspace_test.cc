#include "compiler/workspace.h"

#include <string>

#include "compiler/test_world.h"

namespace edge::compiler {
namespace {

using namespace world;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Workspace, AnEditedRouteIsLinkedAndItsHostLoweredAlone) {
  World world(small_world());
  EXPECT_EQ(world.artifact().stats.hosts_lowered, 10u);
  const CompileStats stats = world.edit("route r3", route("r3", "h3.com", prefix("/else")));
  EXPECT_EQ(world.workspace().stats().documents_decoded, 1u);
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  EXPECT_FALSE(world.workspace().stats().linked_whole);
  EXPECT_EQ(stats.hosts_lowered, 1u);
  EXPECT_EQ(stats.hosts, 10u);
  world.expect_as_from_nothing("the edit");
  EXPECT_EQ(world.edit("route r3", route("r3", "other.com", prefix("/else"))).hosts_lowered, 1u);
  world.expect_as_from_nothing("another host");
  EXPECT_EQ(world.edit("route r3", std::nullopt).hosts, 9u);
  world.expect_as_from_nothing("its end");
  EXPECT_EQ(world.edit("route new", route("new", "h1.com", prefix("/new"))).hosts_lowered, 1u);
  world.expect_as_from_nothing("a new one");
}

TEST(Workspace, ACommentLowersNothing) {
  World world(small_world());
  const auto before = world.artifact().hash;
  const CompileStats stats = world.edit("route r3", "# said by the way\n" + route("r3", "h3.com", prefix("/p3"), "b1"));
  EXPECT_EQ(stats.hosts_lowered, 0u);
  EXPECT_EQ(world.artifact().hash, before);
  world.expect_as_from_nothing("the comment");
}

TEST(Workspace, SettingsOfABackendLowerNothing) {
  World world(small_world());
  const auto before = world.artifact().hash;
  const CompileStats stats = world.edit("backend b1", backend("b1", ", timeout: {connect: 3s}"));
  EXPECT_EQ(stats.hosts_lowered, 0u);
  EXPECT_EQ(stats.native_shards_built + stats.regex_sets_built, 0u);
  EXPECT_NE(world.artifact().hash, before) << "they are in the program";
  world.expect_as_from_nothing("the edit");
}

TEST(Workspace, EndpointsChangeNoProgram) {
  World world(small_world());
  const auto before = world.artifact().hash;
  const CompileStats stats = world.edit("slice b1", slice("b1", "10.0.0.77"));
  EXPECT_EQ(stats.hosts_lowered, 0u);
  EXPECT_FALSE(world.workspace().stats().compiled);
  EXPECT_EQ(world.workspace().stats().routes_linked, 0u);
  EXPECT_EQ(world.artifact().hash, before);
  EXPECT_THAT(program::write_endpoints(world.workspace().endpoints()), HasSubstr("10.0.0.77"));
  world.expect_as_from_nothing("the edit");
}

std::string static_backend(const std::string& name, const std::string& address) {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: " + name +
         ", namespace: default}\nspec: {endpoints: [{address: '" + address + "'}]}\n";
}

TEST(Workspace, EndpointsOfABackendItselfChangeNoProgram) {
  World world(small_world());
  const auto before = world.artifact().hash;
  EXPECT_EQ(world.edit("backend b1", static_backend("b1", "10.0.0.88:81")).hosts_lowered, 0u);
  EXPECT_EQ(world.artifact().hash, before);
  EXPECT_THAT(program::write_endpoints(world.workspace().endpoints()), HasSubstr("10.0.0.88"));
  world.expect_as_from_nothing("endpoints in place of a Service");
  EXPECT_EQ(world.edit("backend b1", static_backend("b1", "10.0.0.89:81")).hosts_lowered, 0u);
  EXPECT_EQ(world.artifact().hash, before);
  EXPECT_THAT(program::write_endpoints(world.workspace().endpoints()), HasSubstr("10.0.0.89"));
  world.expect_as_from_nothing("another address");
  EXPECT_EQ(world.edit("backend b1", backend("b1")).hosts_lowered, 0u);
  EXPECT_THAT(program::write_endpoints(world.workspace().endpoints()), Not(HasSubstr("10.0.0.89")));
  world.expect_as_from_nothing("the Service again");
}

std::string http_route(const std::string& name, const std::string& path, const std::string& service) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
         "}\nspec: {parentRefs: [{name: edge, group: edgeproxy.io, kind: ProxyGateway}], rules: [{matches: [{path: "
         "{type: Exact, value: " +
         path + "}}], backendRefs: [{name: " + service + ", port: 80}]}]}\n";
}

TEST(Workspace, ARouteOfGatewayApiIsLinkedWithWhatItRefersToAlone) {
  Documents documents = small_world();
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    documents["api a" + n] = http_route("a" + n, "/a" + n, "b" + std::to_string(i % 3));
  }
  World world(std::move(documents));
  world.edit("api a1", http_route("a1", "/other", "b1"));
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  world.expect_as_from_nothing("an edit");
  world.edit("api a1", http_route("a1", "/other", "b2"));
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  world.expect_as_from_nothing("another Service");
  world.edit("api a7", http_route("a7", "/a7", "b0"));
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  world.expect_as_from_nothing("a new one");
  world.edit("api a4", std::nullopt);
  EXPECT_EQ(world.workspace().stats().routes_linked, 0u);
  world.expect_as_from_nothing("the last that named its Service is gone");
  world.edit("route r1", route("r1", "h1.com", prefix("/q")));
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u) << "none of them";
  world.expect_as_from_nothing("a ProxyRoute");
  world.edit("service b2", service("b2").replace(service("b2").find("80"), 2, "81"));
  EXPECT_EQ(world.workspace().stats().routes_linked, 3u) << "a1, a2 and a5";
  world.expect_as_from_nothing("a Service without the port");
}

TEST(Workspace, AnIngressIsLinkedWithWhatItRefersToAlone) {
  const auto ingress = [](const std::string& name, const std::string& path, const std::string& more = "") {
    return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: " + name + "}\nspec: {" + more +
           "ingressClassName: ours, rules: [{host: " + name + ".com, http: {paths: [{path: " + path +
           ", pathType: Prefix, backend: {service: {name: b0, port: {number: 80}}}}]}}]}\n";
  };
  Documents documents = small_world();
  documents["class"] =
      "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: ours}\n"
      "spec: {controller: edgeproxy.io/proxy}\n";
  for (int i = 0; i < 5; ++i) documents["ingress i" + std::to_string(i)] = ingress("i" + std::to_string(i), "/");
  World world(std::move(documents));
  world.edit("ingress i1", ingress("i1", "/other"));
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  world.expect_as_from_nothing("an edit");
  world.edit("ingress i7", ingress("i7", "/"));
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  world.expect_as_from_nothing("a new one");
  world.edit("ingress i2", std::nullopt);
  EXPECT_EQ(world.workspace().stats().routes_linked, 0u);
  world.expect_as_from_nothing("one that is gone");
  world.edit("ingress i3", ingress("i3", "/", "tls: [{hosts: [i3.com], secretName: cert}], "));
  world.expect_as_from_nothing("a certificate");
}

TEST(Workspace, AnIngressFollowsThoseThatItStandsBeside) {
  const auto ingress = [](const std::string& name, const std::string& host, const std::string& annotations = "",
                          const std::string& to = "b0") {
    return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: " + name + ", annotations: {" +
           annotations + "}}\nspec: {ingressClassName: ours, rules: [{host: " + host +
           ", http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: " + to +
           ", port: {number: 80}}}}]}}]}\n";
  };
  const std::string prefix = "nginx.ingress.kubernetes.io/";
  Documents documents = small_world();
  documents["class"] =
      "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: ours}\n"
      "spec: {controller: edgeproxy.io/proxy}\n";
  documents["canary"] =
      ingress("next", "shop.com", prefix + "canary: 'true', " + prefix + "canary-by-header: X-Next", "b1");
  documents["www"] = ingress("www", "site.com", prefix + "from-to-www-redirect: 'true'");
  documents["alias"] = ingress("alias", "here.com", prefix + "server-alias: there.com");
  World world(std::move(documents));
  // One that stands beside nobody serves its requests alone, and other names are those of nobody else.
  for (const auto& [name, host] : {std::pair("main", "shop.com"), {"taken", "www.site.com"}, {"other", "there.com"}}) {
    world.edit(name, ingress(name, host));
    EXPECT_FALSE(world.workspace().stats().linked_whole);
    world.expect_as_from_nothing(std::string(name) + " comes");
    world.edit(name, ingress(name, "elsewhere.com"));
    world.expect_as_from_nothing(std::string(name) + " goes to another host");
    world.edit(name, ingress(name, host));
    world.edit(name, std::nullopt);
    world.expect_as_from_nothing(std::string(name) + " is gone");
  }
  // The Service of a canary stands in the route that it shares.
  world.edit("main", ingress("main", "shop.com"));
  world.edit("service b1", std::nullopt);
  world.expect_as_from_nothing("its Service is gone");
  world.edit("service b1", service("b1"));
  world.expect_as_from_nothing("its Service is back");
}

TEST(Workspace, ABackendThatComesOrGoesConcernsThoseWhoNameIt) {
  World world(small_world());
  EXPECT_EQ(world.edit("backend b1", std::nullopt).hosts_lowered, 5u);
  EXPECT_EQ(world.workspace().stats().routes_linked, 5u);
  EXPECT_THAT(world.said_now(), HasSubstr("there is no ProxyBackend `b1`"));
  world.expect_as_from_nothing("its end");
  world.edit("backend b12", backend("b12"));
  EXPECT_THAT(world.said_now(), HasSubstr("did you mean"));
  world.expect_as_from_nothing("a near name");
  EXPECT_EQ(world.edit("backend b1", backend("b1")).hosts_lowered, 5u);
  world.expect_as_from_nothing("its return");
  EXPECT_EQ(world.edit("service b1", std::nullopt).hosts_lowered, 5u) << "without a service there is none";
  world.expect_as_from_nothing("its service's end");
  EXPECT_EQ(world.edit("backend other", backend("other")).hosts_lowered, 0u);
  world.expect_as_from_nothing("one that nobody names");
}

TEST(Workspace, WhichOfSeveralALintNamesIsNotAMatterOfEdits) {
  const auto session = [](const std::string& name, const std::string& to) {
    return resource("ProxyRoute", name,
                    "{parentRefs: [{name: edge}], hostnames: [h.com], rules: [{matches: [" + prefix("/" + name) +
                        "], sessionPersistence: {type: Header, sessionName: X-Session}, backendRef: {name: " + to +
                        "}}]}");
  };
  const std::string limit = "type: RateLimit, rateLimit: {requestsPerSecond: 5, key: identity}";
  Documents documents = small_world();
  documents["limit"] = policy("limit", "ProxyGateway, name: edge", limit);
  documents["session a"] = session("a", "b0");
  documents["session b"] = session("b", "b1");
  World world(std::move(documents));
  // Taken out and put back, a route stands behind the others.
  for (const char* name : {"a", "b"}) {
    world.edit(std::string("session ") + name, std::nullopt);
    world.edit(std::string("session ") + name, session(name, name[0] == 'a' ? "b0" : "b1"));
    EXPECT_THAT(world.said_now(), HasSubstr("EDGE0203 ProxyRoute default/b spec.rules[0].sessionPersistence"));
    EXPECT_THAT(world.said_now(), HasSubstr("no policy finds out who the clients are of ProxyRoute default/a"));
    world.expect_as_from_nothing(name);
  }
}

TEST(Workspace, AnEditElsewhereLeavesEveryPolicyItsSecrets) {
  Documents documents = small_world();
  documents["users"] = "apiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {htpasswd: 'a:b'}\n";
  documents["login"] =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\nstringData: {client-secret: hidden, "
      "session-secret: 0123456789abcdef0123456789abcdef}\n";
  documents["basic"] =
      policy("basic", "ProxyRoute, name: r1", "type: BasicAuth, basicAuth: {secretRef: {name: users}}");
  documents["oidc"] = policy("oidc", "ProxyRoute, name: r2",
                             "type: OIDC, oidc: {issuerURL: 'https://id.com', clientID: shop, clientSecretRef: {name: "
                             "login}, sessionSecretRef: {name: login}, redirectURL: 'https://h2.com/login'}");
  World world(documents);
  const std::string all = program::write_secrets(world.workspace().secrets());
  world.edit("route r3", route("r3", "h3.com", prefix("/else")));
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  EXPECT_EQ(program::write_secrets(world.workspace().secrets()), all);
  world.edit("route r3", "# a comment\n" + route("r3", "h3.com", prefix("/else")));
  world.edit("slice b1", slice("b1", "10.0.0.77"));
  EXPECT_EQ(program::write_secrets(world.workspace().secrets()), all);
  world.expect_as_from_nothing("edits elsewhere");
  world.edit("users", "apiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {htpasswd: 'a:c'}\n");
  EXPECT_NE(program::write_secrets(world.workspace().secrets()), all);
  world.expect_as_from_nothing("another value");
  world.edit("oidc", std::nullopt);
  EXPECT_EQ(world.workspace().secrets().secrets.size(), 1u) << "nobody names it now";
  world.expect_as_from_nothing("a policy's end");
}

TEST(Workspace, AnEditOfAConfigMapReachesThePoliciesThatNameIt) {
  const auto map = [](const std::string& data) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pages}\ndata: {" + data + "}\n";
  };
  Documents documents = small_world();
  documents["pages"] = map("page: first, networks: 10.0.0.0/8");
  documents["fixed"] = policy("fixed", "ProxyRoute, name: r1",
                              "type: FixedResponse, fixedResponse: {statusCode: 200, configMapRef: {name: pages, key: "
                              "page}}");
  documents["access"] = policy("access", "ProxyRoute, name: r2",
                               "type: IPAccess, ipAccess: {allowLists: [{configMapRef: {name: pages}}]}");
  documents["errors"] = policy("errors", "ProxyGateway, name: edge",
                               "type: ErrorPages, errorPages: {pages: [{statuses: ['404'], configMapRef: {name: pages, "
                               "key: page}}]}");
  World world(documents);
  world.expect_as_from_nothing("the start");
  const auto before = world.artifact().hash;
  EXPECT_EQ(world.edit("pages", map("page: second, networks: 10.0.0.0/8")).hosts_lowered, 0u) << "hosts name policies";
  EXPECT_NE(world.artifact().hash, before);
  world.expect_as_from_nothing("another body");
  world.edit("pages", map("networks: nonsense"));
  world.expect_as_from_nothing("neither a body nor a list");
  world.edit("pages", std::nullopt);
  world.expect_as_from_nothing("its end");
  world.edit("pages", map("page: first, networks: 10.0.0.0/8"));
  world.expect_as_from_nothing("its return");
  EXPECT_EQ(world.artifact().hash, before);
  // Two of one name: the one that holds gives body and list, whichever file came first.
  world.edit("another", map("page: second, networks: 10.9.0.0/16"));
  EXPECT_THAT(world.said_now(), HasSubstr("EDGE0006"));
  world.expect_as_from_nothing("another of its name");
  const auto both = world.artifact().hash;
  const std::string values = program::write_secrets(world.workspace().secrets());
  world.edit("another", map("page: first, networks: 10.0.0.0/8"));
  world.edit("pages", map("page: second, networks: 10.9.0.0/16"));
  EXPECT_EQ(world.artifact().hash, both) << "in the other file";
  EXPECT_EQ(program::write_secrets(world.workspace().secrets()), values);
  world.edit("another", std::nullopt);
  world.edit("pages", map("page: first, networks: 10.0.0.0/8"));
  world.expect_as_from_nothing("the other's end");
  EXPECT_EQ(world.artifact().hash, before);
}

TEST(Workspace, PagesForErrorsOfBackendsLowerTheHostsOfTheirGateway) {
  const auto pages = [](const std::string& more) {
    return policy("errors", "ProxyGateway, name: edge",
                  "type: ErrorPages, errorPages: {pages: [{statuses: [5xx], body: x" + more + "}]}");
  };
  Documents documents = small_world();
  documents["errors"] = pages("");
  World world(documents);
  EXPECT_EQ(world.edit("errors", pages(", backendErrors: true")).hosts_lowered, 10u) << "each rule has a flag for it";
  world.expect_as_from_nothing("with them");
  world.edit("errors", pages(""));
  world.expect_as_from_nothing("without them");
}

TEST(Workspace, AGatewayConcernsAllItsRoutes) {
  World world(small_world());
  const CompileStats renamed = world.edit("gateway", gateway("{name: web, port: 8080, protocol: HTTP}"));
  EXPECT_TRUE(world.workspace().stats().linked_whole);
  EXPECT_EQ(renamed.hosts_lowered, 10u);
  world.expect_as_from_nothing("another name");
  world.edit("gateway", gateway("{name: web, port: 8080, protocol: HTTP}, {name: b, port: 81, protocol: HTTP}"));
  world.expect_as_from_nothing("another listener");
  world.edit("gateway", gateway("{name: web, port: 8080, protocol: HTTP, hostnames: [h1.com]}"));
  world.expect_as_from_nothing("names of its own");
  world.edit("gateway", std::nullopt);
  world.expect_as_from_nothing("its end");
}

TEST(Workspace, AnAddressLowersNothingThatIsTheSame) {
  Documents documents = small_world();
  const auto vip = [](const std::string& address) { return resource("ProxyVIP", "vip", "{address: " + address + "}"); };
  documents["vip"] = vip("10.1.1.1");
  documents["gateway"] =
      resource("ProxyGateway", "edge", "{vipRef: vip, listeners: [{name: http, port: 8080, protocol: HTTP}]}");
  World world(documents);
  const CompileStats stats = world.edit("vip", vip("10.1.1.2"));
  EXPECT_EQ(stats.native_shards_built + stats.regex_sets_built, 0u);
  world.expect_as_from_nothing("the edit");
}

TEST(Workspace, APolicyConcernsItsTarget) {
  World world(small_world());
  const std::string limit = "type: RateLimit, rateLimit: {requestsPerSecond: 5, burst: 9}";
  EXPECT_EQ(world.edit("policy", policy("limit", "ProxyRoute, name: r3", limit)).hosts_lowered, 1u);
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  world.expect_as_from_nothing("a policy on a route");
  world.edit("second", policy("second", "ProxyRoute, name: r3", limit));
  world.expect_as_from_nothing("a second of its type");
  world.edit("policy", std::nullopt);
  world.expect_as_from_nothing("the end of the first");
  world.edit("second", policy("second", "ProxyGateway, name: edge", limit));
  world.expect_as_from_nothing("a policy on the gateway");
  world.edit("second", policy("second", "ProxyRoute, name: r33", limit));
  EXPECT_THAT(world.said_now(), HasSubstr("did you mean `r3`"));
  world.expect_as_from_nothing("a policy on nothing");
  world.edit("route r3", std::nullopt);
  world.expect_as_from_nothing("the end of a near name");
  world.edit("route r33", route("r33", "h3.com", prefix("/")));
  world.expect_as_from_nothing("a route for the policy");
}

TEST(Workspace, TwoResourcesOfOneNameAreJudgedWheneverOneChanges) {
  World world(small_world());
  world.edit("double", route("r3", "double.com", prefix("/double")));
  EXPECT_THAT(world.said_now(), HasSubstr("given twice"));
  world.expect_as_from_nothing("a double");
  world.edit("route r3", std::nullopt);
  EXPECT_THAT(world.routes(), HasSubstr("host double.com"));
  world.expect_as_from_nothing("the end of the first");
}

TEST(Workspace, AFaultLeavesOutItsResourceUntilItIsMended) {
  World world(small_world());
  for (const std::string& text :
       {route("r3", "h3.com", "{path: {type: PathPrefx, value: /}}"), route("r3", "h3.com", prefix("no-path")),
        route("r3", "h3.com", "{path: {type: RegularExpression, value: '('}}"), std::string("a: b: c"),
        route("r3", "h3.com", "{path: {type: RegularExpression, value: 'x^y'}}")}) {
    world.edit("route r3", text);
    EXPECT_THAT(world.routes(), Not(HasSubstr("default/r3"))) << text;
    world.expect_as_from_nothing(text);
  }
  world.edit("route r3", route("r3", "h3.com", prefix("/")));
  EXPECT_THAT(world.routes(), HasSubstr("default/r3"));
  world.expect_as_from_nothing("mended");
}

TEST(Workspace, ARouteWhoseRuleIsHiddenIsShadowedAsLongAsItIs) {
  World world(small_world());
  const auto shadowed = [&]() -> std::string {
    const auto statuses = world.workspace().statuses();
    const ResourceStatus* status = find_status(statuses, "ProxyRoute", "default", "late");
    const Condition* found = status == nullptr ? nullptr : find_condition(status->conditions, condition::kShadowed);
    return found == nullptr ? "" : found->message;
  };
  world.edit("route late", route("late", "h3.com", "{path: {type: RegularExpression, value: '^/p3/v[0-9]$'}}"));
  EXPECT_THAT(shadowed(), HasSubstr("is never reached: default/r3 rules[0].matches[0] takes its requests"));
  world.expect_as_from_nothing("the hidden rule");
  // An edit of another host keeps what was found of this one.
  world.edit("route r5", route("r5", "h5.com", prefix("/else")));
  EXPECT_THAT(shadowed(), HasSubstr("default/r3"));
  world.edit("route r3", route("r3", "h3.com", prefix("/other")));
  EXPECT_EQ(shadowed(), "");
  world.expect_as_from_nothing("the end of what hid it");
}

TEST(Workspace, SettingsOfAGatewayLinkNoRoute) {
  World world(small_world());
  const std::string gateway =
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: edge, namespace: default}\n"
      "spec: {compression: {enabled: true}, listeners: [{name: http, port: 8080, protocol: HTTP}]}\n";
  world.edit("gateway", gateway);
  EXPECT_FALSE(world.workspace().stats().linked_whole);
  EXPECT_EQ(world.workspace().stats().routes_linked, 0u);
  world.expect_as_from_nothing("compression");
  EXPECT_EQ(world.edit("route r3", route("r3", "h3.com", prefix("/other"))).hosts_lowered, 1u);
  world.expect_as_from_nothing("a route after it");
}

std::string foreign(const std::string& kind, const std::string& name, const std::string& spec) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name +
         ", namespace: default}\nspec: " + spec + "\n";
}

TEST(Workspace, OtherKindsConcernTheRoutesThatTheyReach) {
  World world(small_world());
  world.edit("class", foreign("GatewayClass", "edge", "{controllerName: edgeproxy.io/proxy}"));
  EXPECT_FALSE(world.workspace().stats().linked_whole) << "no gateway is another";
  EXPECT_EQ(world.workspace().stats().routes_linked, 0u);
  world.expect_as_from_nothing("a class");
  world.edit("api gateway", foreign("Gateway", "web",
                                    "{gatewayClassName: edge, listeners: [{name: http, port: 90, protocol: HTTP}]}"));
  EXPECT_TRUE(world.workspace().stats().linked_whole) << "there is one gateway more";
  world.expect_as_from_nothing("a gateway");
  const auto api_route = [](const std::string& path) {
    return foreign("HTTPRoute", "api",
                   "{parentRefs: [{name: web}], rules: [{matches: [{path: {value: " + path +
                       "}}], backendRefs: [{name: b1, port: 80}]}]}");
  };
  EXPECT_EQ(world.edit("api route", api_route("/a")).hosts_lowered, 1u);
  EXPECT_FALSE(world.workspace().stats().linked_whole);
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u) << "none of the ten others";
  world.expect_as_from_nothing("an HTTPRoute");
  EXPECT_EQ(world.edit("api route", api_route("/b")).hosts_lowered, 1u);
  world.expect_as_from_nothing("its edit");
  EXPECT_EQ(world.edit("api route", std::nullopt).hosts_lowered, 0u);
  EXPECT_FALSE(world.workspace().stats().linked_whole);
  world.expect_as_from_nothing("its end");
}

TEST(Workspace, AGrantConcernsTheRoutesThatCrossNamespaces) {
  World world(small_world());
  world.edit("far", resource("ProxyBackend", "far, namespace: other", "{serviceRef: {name: far, port: 80}}"));
  world.edit("far service",
             "apiVersion: v1\nkind: Service\nmetadata: {name: far, namespace: other}\nspec: {ports: [{port: 80}]}\n");
  world.edit("crossing", route("crossing", "h3.com", prefix("/far"), "far, namespace: other"));
  EXPECT_THAT(world.said_now(), HasSubstr("ReferenceGrant"));
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: other}\n"
      "spec: {from: [{group: edgeproxy.io, kind: ProxyRoute, namespace: default}], to: [{group: edgeproxy.io, kind: "
      "ProxyBackend}]}\n";
  EXPECT_EQ(world.edit("grant", grant).hosts_lowered, 1u);
  EXPECT_FALSE(world.workspace().stats().linked_whole);
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  EXPECT_THAT(world.said_now(), Not(HasSubstr("no ReferenceGrant")));
  world.expect_as_from_nothing("the grant");
  EXPECT_EQ(world.edit("grant", std::nullopt).hosts_lowered, 1u);
  EXPECT_EQ(world.workspace().stats().routes_linked, 1u);
  world.expect_as_from_nothing("its end");
}

TEST(Workspace, SeveralEditsAreOneProgram) {
  World world(small_world());
  world.apply({{"route r3", route("r3", "h3.com", prefix("/x"), "b9")},
               {"backend b9", backend("b9")},
               {"service b9", service("b9")},
               {"backend b0", std::nullopt},
               {"route r1", std::nullopt}});
  world.expect_as_from_nothing("the edits");
}

}  // namespace
}  // namespace edge::compiler
