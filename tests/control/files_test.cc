// Files with faults, by edge-standalone: what a file was meant to protect is denied, or its last version without errors
// stays whole; never a part of it. One save is one program.
#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string policy(const std::string& name, const std::string& spec, const std::string& target = "secret") {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: " + name +
         "}\nspec:\n  targetRef: {kind: ProxyRoute, name: " + target + "}\n" + spec;
}

/// Denies everything: a policy that asks it lets nobody through.
class Denier {
 public:
  Denier()
      : process_({"python3", "-u", "-c",
                  "import http.server\n"
                  "class Handler(http.server.BaseHTTPRequestHandler):\n"
                  "    protocol_version = 'HTTP/1.1'\n"
                  "    def do_GET(self):\n"
                  "        self.send_response(401)\n"
                  "        self.send_header('Content-Length', '0')\n"
                  "        self.end_headers()\n"
                  "    def log_message(self, *words):\n"
                  "        pass\n"
                  "server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)\n"
                  "print('port', server.server_address[1])\n"
                  "server.serve_forever()\n"}) {
    const auto line = process_.wait_out("port ");
    if (line) address_ = "http://127.0.0.1:" + line->substr(line->rfind(' ') + 1) + "/";
  }
  const std::string& address() const { return address_; }

 private:
  Process process_;
  std::string address_;
};

class Files : public Control {
 protected:
  void SetUp() override {
    dir_.put("config/base.yaml", base_config(backend_.port));
    dir_.put("config/routes.yaml", route_config("secret", "/secret") + "---\n" + route_config("open", "/open"));
  }
  void start() {
    proxy_ = standalone({"--config", dir_ / "config"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }
  void restart() {
    proxy_->process.send_signal(SIGTERM);
    EXPECT_EQ(proxy_->process.wait_exit(), 0) << proxy_->process.err_text();
    start();
  }
  /// Settings of a policy that answers 401.
  std::string sound() const { return "  type: ForwardAuth\n  forwardAuth: {address: '" + denier_.address() + "'}\n"; }
  std::string get(const std::string& path, const std::vector<std::string>& more = {}) {
    return curl(proxy_->port, path, more);
  }
  /// What comes by the API was written after everything that the files led to.
  void settle() {
    Api api(dir_ / "data/kubeconfig");
    static int number = 0;
    const std::string name = "mark-" + std::to_string(++number);
    api.apply(route(name, "/" + name));
    EXPECT_TRUE(answers(proxy_->port, "/" + name, "200")) << proxy_->process.err_text();
  }

  Denier denier_;
  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(Files, AFilterExternalAuthAsksAServiceAndFollowsItsEndpoints) {
  const std::string port = denier_.address().substr(17, denier_.address().size() - 18);
  const auto service = [&](const std::string& name, const std::string& endpoint) {
    dir_.put("config/service.yaml", "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: " + name +
                                        "}\nspec: {endpoints: [{address: '127.0.0.1:" + endpoint + "'}]}\n");
  };
  service("decider", port);
  dir_.put("config/filter.yaml", R"(apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: filtered}
spec:
  parentRefs: [{group: edgeproxy.io, kind: ProxyGateway, name: gw}]
  rules:
    - matches: [{path: {value: /filtered}}]
      filters:
        - type: ExternalAuth
          externalAuth:
            protocol: HTTP
            backendRef: {group: edgeproxy.io, kind: ProxyBackend, name: decider}
            http: {}
      backendRefs: [{group: edgeproxy.io, kind: ProxyBackend, name: be}]
)");
  start();
  EXPECT_THAT(get("/filtered"), StartsWith("401")) << proxy_->process.err_text();
  // Nobody answers where the service has gone to; then it is back; then there is none of its name.
  service("decider", "1");
  EXPECT_TRUE(answers(proxy_->port, "/filtered", "503")) << proxy_->process.err_text();
  service("decider", port);
  EXPECT_TRUE(answers(proxy_->port, "/filtered", "401")) << proxy_->process.err_text();
  service("other", port);
  EXPECT_TRUE(answers(proxy_->port, "/filtered", "500")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  restart();
  EXPECT_THAT(get("/filtered"), StartsWith("500"));
  service("decider", port);
  EXPECT_TRUE(answers(proxy_->port, "/filtered", "401")) << proxy_->process.err_text();
}

struct Refused {
  const char* name;
  const char* spec;
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.name; }

class RefusedPolicy : public Files, public testing::WithParamInterface<Refused> {};

INSTANTIATE_TEST_SUITE_P(
    All, RefusedPolicy,
    testing::Values(
        Refused{"Type", "  type: BasicAuht\n  basicAuth: {secretRef: {name: users}}\n"},
        Refused{"FieldInOtherCase", "  type: BasicAuth\n  basicAuth: {secretref: {name: users}}\n"},
        Refused{"TextForABoolean", "  type: BasicAuth\n  basicAuth: {secretRef: {name: users}, stripAuth: \"yes\"}\n"},
        Refused{"AlgorithmNone",
                "  type: JWT\n  jwt: {issuer: i, jwksURI: 'http://127.0.0.1:1/', allowedAlgorithms: [none]}\n"},
        Refused{"NoDuration", "  type: ForwardAuth\n  forwardAuth: {address: 'http://127.0.0.1:1/', timeout: fast}\n"},
        Refused{"NoAddress", "  type: ForwardAuth\n  forwardAuth: {address: 'ftp://127.0.0.1/'}\n"},
        Refused{"NoRate", "  type: RateLimit\n  rateLimit: {requestsPerSecond: many}\n"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(RefusedPolicy, AtTheFirstStartDeniesItsRouteUntilItIsMended) {
  dir_.put("config/policies.yaml", policy("check", GetParam().spec));
  start();
  EXPECT_THAT(get("/secret"), StartsWith("503")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  restart();
  EXPECT_THAT(get("/secret"), StartsWith("503"));
  EXPECT_THAT(get("/open"), StartsWith("200"));
  settle();
  EXPECT_THAT(get("/secret"), StartsWith("503"));
  dir_.put("config/policies.yaml", policy("check", sound()));
  EXPECT_TRUE(answers(proxy_->port, "/secret", "401")) << proxy_->process.err_text();
}

TEST_P(RefusedPolicy, LaterLeavesTheLastVersionWhole) {
  dir_.put("config/policies.yaml", policy("check", sound()));
  start();
  EXPECT_THAT(get("/secret"), StartsWith("401")) << proxy_->process.err_text();
  dir_.put("config/policies.yaml", policy("check", GetParam().spec) + "---\n" + policy("more", sound(), "open"));
  EXPECT_TRUE(proxy_->process.wait_err("stays in force")) << proxy_->process.err_text();
  settle();
  EXPECT_THAT(get("/secret"), StartsWith("401"));
  EXPECT_THAT(get("/open"), StartsWith("200")) << "a part of the file came into force";
  restart();
  settle();
  EXPECT_THAT(get("/secret"), StartsWith("401"));
  EXPECT_THAT(get("/open"), StartsWith("200")) << "a part of the file came into force";
  dir_.put("config/policies.yaml", policy("check", sound()) + "---\n" + policy("more", sound(), "open"));
  EXPECT_TRUE(answers(proxy_->port, "/open", "401")) << proxy_->process.err_text();
}

TEST_F(Files, ANewRouteWhosePolicyIsRefusedInAFileThatIsHeldIsDenied) {
  dir_.put("config/policies.yaml", policy("check", sound()));
  start();
  dir_.put("config/policies.yaml", policy("check", sound()) + "---\n" + policy("more", "  type: BasicAuht\n", "added"));
  dir_.put("config/added.yaml", route_config("added", "/added"));
  EXPECT_TRUE(answers(proxy_->port, "/added", "503")) << proxy_->process.err_text();
  EXPECT_THAT(get("/secret"), StartsWith("401"));
  EXPECT_THAT(get("/open"), StartsWith("200"));
  restart();
  // At no moment of the start: what denies it comes with the files, which are looked at beside what serves.
  for (int i = 0; i < 40; ++i) EXPECT_THAT(get("/added"), StartsWith("503"));
  settle();
  EXPECT_THAT(get("/added"), StartsWith("503"));

  // A volume that is mounted late.
  std::filesystem::rename(dir_ / "config", dir_ / "later");
  std::filesystem::create_directory(dir_ / "config");
  restart();
  settle();
  EXPECT_THAT(get("/added"), StartsWith("503"));
  EXPECT_THAT(get("/secret"), StartsWith("401"));
}

TEST_F(Files, WhatTheApiHasOfARefusedPolicyGoesOn) {
  std::filesystem::rename(dir_ / "config", dir_ / "later");
  dir_.put("config/base.yaml", base_config(backend_.port));
  start();
  Api api(dir_ / "data/kubeconfig");
  api.apply(route("secret", "/secret"));
  api.apply(own("ProxyPolicy", "check",
                {{"targetRef", {{"kind", "ProxyRoute"}, {"name", "secret"}}},
                 {"type", "ForwardAuth"},
                 {"forwardAuth", {{"address", denier_.address()}}}}));
  EXPECT_TRUE(answers(proxy_->port, "/secret", "401")) << proxy_->process.err_text();
  dir_.put("config/policies.yaml", policy("check", "  type: BasicAuht\n"));
  EXPECT_TRUE(proxy_->process.wait_err("BasicAuht")) << proxy_->process.err_text();
  settle();
  EXPECT_THAT(get("/secret"), StartsWith("401"));
}

TEST_F(Files, APolicyOfAKindThatIsNoneDeniesItsTarget) {
  dir_.put("config/policies.yaml",
           "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolcy\nmetadata: {name: check}\n"
           "spec:\n  targetRef: {kind: ProxyRoute, name: secret}\n" +
               sound());
  start();
  EXPECT_THAT(get("/secret"), StartsWith("503")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
}

TEST_F(Files, ARefusedPolicyOfAGatewayDeniesItsRoutes) {
  dir_.put("config/policies.yaml",
           "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: check}\n"
           "spec:\n  targetRef: {kind: ProxyGateway, name: gw}\n  type: BasicAuht\n");
  start();
  EXPECT_THAT(get("/secret"), StartsWith("503")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("503"));
}

TEST_F(Files, WhatIsDeniedHasTheHeadersOfThePoliciesThatAreSound) {
  const auto on_gateway = [](const std::string& name, const std::string& spec) {
    return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: " + name +
           "}\nspec: {targetRef: {kind: ProxyGateway, name: gw}, " + spec + "}\n";
  };
  dir_.put("config/headers.yaml",
           on_gateway("careful", "type: SecurityHeaders, securityHeaders: {xFrameOptions: DENY}") + "---\n" +
               on_gateway("pages", "type: CORS, cors: {allowOrigins: ['https://a.example']}"));
  dir_.put("config/policies.yaml", on_gateway("check", "type: BasicAuht"));
  start();
  for (const char* path : {"/secret", "/nothing"}) {
    EXPECT_THAT(get(path, {"-i", "-H", "Origin: https://a.example"}),
                AllOf(StartsWith("503"), HasSubstr("X-Frame-Options: DENY\r\n"),
                      HasSubstr("Access-Control-Allow-Origin: https://a.example\r\n")))
        << path;
  }
}

/// The Gateway API's kinds in place of ours, before what `base_config` has behind the gateway.
std::string http_gateway(const std::string& base) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: edge}\n"
         "spec: {controllerName: edgeproxy.io/proxy}\n---\n"
         "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw}\n"
         "spec: {gatewayClassName: edge, listeners: [{name: http, port: 8080, protocol: HTTP}]}\n" +
         base.substr(base.find("---\n"));
}

std::string http_route(const std::string& name) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
         "}\nspec: {parentRefs: [{name: gw}], rules: [{matches: [{path: {type: Exact, value: /" + name +
         "}}], backendRefs: [{name: be, port: 80}]}]}\n";
}

TEST_F(Files, APolicyForAnHttpRouteProtectsIt) {
  dir_.put("config/base.yaml", http_gateway(base_config(backend_.port)));
  dir_.put("config/routes.yaml", http_route("secret") + "---\n" + http_route("open"));
  dir_.put("config/policies.yaml",
           "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: check}\n"
           "spec:\n  targetRef: {kind: HTTPRoute, name: secret}\n" +
               sound());
  start();
  EXPECT_THAT(get("/secret"), StartsWith("401")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
}

TEST_F(Files, ARefusedPolicyOfAnHttpRouteDeniesIt) {
  dir_.put("config/base.yaml", http_gateway(base_config(backend_.port)));
  dir_.put("config/routes.yaml", http_route("secret") + "---\n" + http_route("open"));
  dir_.put("config/policies.yaml",
           "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: check}\n"
           "spec:\n  targetRefs: [{kind: HTTPRoute, name: secret}]\n  type: BasicAuht\n");
  start();
  EXPECT_THAT(get("/secret"), StartsWith("503")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
}

/// What was to be sent by TLS to a server that is known is not sent in plain text to whoever is there.
TEST_F(Files, ARefusedPolicyOfTlsToABackendSendsItNothing) {
  const auto tls = [](const std::string& validation) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: tls}\nspec:\n"
           "  targetRefs: [{group: '', kind: Service, name: be, sectionName: http}]\n  validation: {" +
           validation + "}\n";
  };
  dir_.put("config/base.yaml", http_gateway(base_config(backend_.port)));
  dir_.put("config/routes.yaml", http_route("secret"));
  dir_.put("config/tls.yaml", tls("hostnme: be.test, wellKnownCACertificates: System"));
  start();
  EXPECT_THAT(get("/secret"), StartsWith("500")) << proxy_->process.err_text();
  restart();
  EXPECT_THAT(get("/secret"), StartsWith("500"));
  std::filesystem::remove(dir_ / "config/tls.yaml");
  EXPECT_TRUE(answers(proxy_->port, "/secret", "200")) << proxy_->process.err_text();
}

TEST_F(Files, AFileThatCannotBeReadDeniesWhatCameWithItAndNothingLater) {
  dir_.put("config/policies.yaml", "kind: ProxyPolicy\nspec: [broken\n");
  start();
  EXPECT_THAT(get("/secret"), StartsWith("503")) << proxy_->process.err_text();
  dir_.put("config/later.yaml", route_config("later", "/later"));
  EXPECT_TRUE(answers(proxy_->port, "/later", "200")) << proxy_->process.err_text();
  EXPECT_THAT(get("/secret"), StartsWith("503"));
  restart();
  settle();
  EXPECT_THAT(get("/secret"), StartsWith("503"));
  EXPECT_THAT(get("/later"), StartsWith("200"));
  dir_.put("config/policies.yaml", policy("check", sound()));
  EXPECT_TRUE(answers(proxy_->port, "/secret", "401")) << proxy_->process.err_text();
  EXPECT_TRUE(answers(proxy_->port, "/open", "200")) << proxy_->process.err_text();
}

std::string prefix_route(const std::string& name, const std::string& type, const std::string& path) {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: " + name +
         "}\nspec:\n  parentRefs: [{name: gw}]\n  rules:\n  - matches: [{path: {type: " + type + ", value: '" + path +
         "'}}]\n    backendRef: {name: be}\n";
}

TEST_F(Files, NoWiderRouteAnswersInPlaceOfARefusedOne) {
  dir_.put("config/admin.yaml", prefix_route("admin", "RegularExpresion", "^/admin"));
  dir_.put("config/policies.yaml", policy("check", sound(), "admin"));
  dir_.put("config/wide.yaml", prefix_route("wide", "PathPrefix", "/"));
  start();
  EXPECT_THAT(get("/admin"), StartsWith("503")) << proxy_->process.err_text();
  restart();
  settle();
  EXPECT_THAT(get("/admin"), StartsWith("503"));
  dir_.put("config/admin.yaml", prefix_route("admin", "Exact", "/admin"));
  EXPECT_TRUE(answers(proxy_->port, "/admin", "401")) << proxy_->process.err_text();
  EXPECT_TRUE(answers(proxy_->port, "/else", "200")) << proxy_->process.err_text();
  // Later its last version stays.
  dir_.put("config/admin.yaml", prefix_route("admin", "RegularExpresion", "^/admin"));
  EXPECT_TRUE(proxy_->process.wait_err("stays in force")) << proxy_->process.err_text();
  settle();
  EXPECT_THAT(get("/admin"), StartsWith("401"));
  restart();
  settle();
  EXPECT_THAT(get("/admin"), StartsWith("401"));
}

TEST_F(Files, OnlyRoutesThatMayTakeItsRequestsAreDeniedForARefusedRoute) {
  dir_.put("config/admin.yaml", prefix_route("admin", "Exact", "/admin") + "    retry: {numRetries: many}\n");
  dir_.put("config/wide.yaml", prefix_route("wide", "PathPrefix", "/"));
  start();
  EXPECT_THAT(get("/admin"), StartsWith("503")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
}

TEST_F(Files, AGatewayWithARefusedSettingIsNotServedAndLaterStaysAsItWas) {
  const auto gateway = [](const std::string& more) {
    return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: gw}\nspec:\n  listeners:\n"
           "  - {name: http, port: 8080, protocol: HTTP" +
           more + "}\n";
  };
  start();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  const std::string base = base_config(backend_.port);
  const std::string rest = base.substr(base.find("---\n"));
  // Redirects to TLS, with a slip in another setting: neither the redirect without it, nor no gateway.
  dir_.put("config/base.yaml", gateway(", sslRedirect: true, maxRequestBody: much") + rest);
  EXPECT_TRUE(proxy_->process.wait_err("stays in force")) << proxy_->process.err_text();
  settle();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  restart();
  settle();
  EXPECT_THAT(get("/open"), StartsWith("200"));
}

TEST_F(Files, AClientCertificateSettingThatIsRefusedServesNothing) {
  dir_.put("config/mutual.yaml",
           "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: mutual}\nspec:\n  listeners:\n"
           "  - name: mutual\n    port: 8443\n    protocol: HTTPS\n    tls:\n      secretRef: {name: certificate}\n"
           "      clientvalidation: {caCertificateRefs: [{name: clients}]}\n");
  start();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  settle();
  EXPECT_THAT(proxy_->process.err_text(), Not(HasSubstr("listener mutual on "))) << proxy_->process.err_text();
}

TEST_F(Files, ABackendThatIsNowhereLeavesTheLastVersionInForceUntilItComes) {
  start();
  const std::string typo = [] {
    std::string text = route_config("open", "/open");
    return text.replace(text.rfind("name: be"), 8, "name: bee");
  }();
  dir_.put("config/routes.yaml", route_config("secret", "/moved") + "---\n" + typo);
  EXPECT_TRUE(proxy_->process.wait_err("stays in force")) << proxy_->process.err_text();
  settle();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  EXPECT_THAT(get("/secret"), StartsWith("200"));
  EXPECT_THAT(get("/moved"), StartsWith("404"));
  restart();
  settle();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  EXPECT_THAT(get("/moved"), StartsWith("404"));
  // It comes by the API: no file need change.
  Api api(dir_ / "data/kubeconfig");
  api.apply(own("ProxyBackend", "bee", {{"serviceRef", {{"name", "be"}, {"port", 80}}}}));
  EXPECT_TRUE(answers(proxy_->port, "/moved", "200")) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
}

TEST_F(Files, FilesMayReferToWhatTheApiHas) {
  std::filesystem::remove(dir_ / "config/routes.yaml");
  start();
  Api api(dir_ / "data/kubeconfig");
  api.apply(own("ProxyBackend", "theirs", {{"serviceRef", {{"name", "be"}, {"port", 80}}}}));
  std::string text = route_config("open", "/open");
  text.replace(text.rfind("name: be"), 8, "name: theirs");
  dir_.put("config/routes.yaml", text);
  EXPECT_TRUE(answers(proxy_->port, "/open", "200")) << proxy_->process.err_text();
  EXPECT_THAT(proxy_->process.err_text(), Not(HasSubstr("correct the errors")));
}

/// The last program serves while files are still being read, here one that has nothing to say until it is written to.
TEST_F(Files, ARestartServesBeforeTheFilesAreRead) {
  dir_.put("late.yaml", route_config("late", "/before"));
  const auto run = [this] {
    proxy_ = standalone({"--config", dir_ / "config", "--config", dir_ / "late.yaml"});
    return proxy_->wait_ready();
  };
  const std::string before = run();
  ASSERT_NE(before, "") << proxy_->process.err_text();
  EXPECT_THAT(get("/before"), StartsWith("200"));
  proxy_->process.send_signal(SIGTERM);
  EXPECT_EQ(proxy_->process.wait_exit(), 0) << proxy_->process.err_text();
  std::filesystem::remove(dir_ / "late.yaml");
  ASSERT_EQ(::mkfifo((dir_ / "late.yaml").c_str(), 0600), 0);
  ASSERT_EQ(run(), before) << proxy_->process.err_text();
  EXPECT_THAT(get("/open"), StartsWith("200"));
  EXPECT_THAT(get("/before"), StartsWith("200"));
  std::ofstream(dir_ / "late.yaml") << route_config("late", "/after");
  EXPECT_TRUE(answers(proxy_->port, "/after", "200")) << proxy_->process.err_text();
  EXPECT_THAT(get("/before"), StartsWith("404"));
}

/// What the API has as it was applied costs a restart one look at each kind.
TEST_F(Files, ARestartAppliesOnlyWhatIsNotAsItWas) {
  std::string routes = route_config("open", "/open");
  for (int i = 0; i < 100; ++i) routes += "---\n" + route_config("r" + std::to_string(i), "/r" + std::to_string(i));
  dir_.put("config/routes.yaml", routes);
  start();
  EXPECT_THAT(get("/r99"), StartsWith("200"));
  {
    Api api(dir_ / "data/kubeconfig");
    api.apply(route("open", "/taken"));
    EXPECT_TRUE(answers(proxy_->port, "/taken", "200")) << proxy_->process.err_text();
    // Statuses are patches too: with all of them written, the next start has its own only.
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(api.says("ProxyRoute", "r" + std::to_string(i), "Ready", "True")) << i;
  }
  proxy_->process.send_signal(SIGTERM);
  EXPECT_EQ(proxy_->process.wait_exit(), 0) << proxy_->process.err_text();
  dir_.put("config/more.yaml", route_config("more", "/more"));
  start();
  EXPECT_TRUE(answers(proxy_->port, "/more", "200")) << proxy_->process.err_text();
  EXPECT_THAT(get("/taken"), StartsWith("404")) << "the files' fields are taken back";
  EXPECT_THAT(get("/open"), StartsWith("200"));
  EXPECT_THAT(get("/r99"), StartsWith("200"));
  const std::string reported = curl(proxy_->metrics_port, "/metrics");
  const std::string patches = "edge_api_requests_total{verb=\"PATCH\",code=\"2xx\"} ";
  const std::size_t at = reported.find(patches);
  ASSERT_NE(at, std::string::npos) << reported;
  EXPECT_LT(std::atoi(reported.c_str() + at + patches.size()), 20) << "all of the files was applied once more";
}

/// Of a backend that is renamed with its route, and a hundred routes beside them.
TEST_F(Files, OneSaveIsOneProgram) {
  start();
  std::string base = base_config(backend_.port);
  base.replace(base.find("kind: ProxyBackend\nmetadata: {name: be}"), 39, "kind: ProxyBackend\nmetadata: {name: new}");
  std::string routes;
  for (int i = 0; i < 100; ++i) routes += route_config("r" + std::to_string(i), "/r" + std::to_string(i)) + "---\n";
  routes += route_config("open", "/open");
  for (std::size_t at = 0; (at = routes.find("backendRef: {name: be}", at)) != std::string::npos;) {
    routes.replace(at, 22, "backendRef: {name: new}");
  }
  dir_.put("config/base.yaml", base);
  dir_.put("config/routes.yaml", routes);
  const std::string second = proxy_->wait_programmed();
  ASSERT_NE(second, "") << proxy_->process.err_text();
  EXPECT_THAT(get("/r99"), StartsWith("200"));
  EXPECT_THAT(get("/r0"), StartsWith("200"));
  EXPECT_THAT(get("/secret"), StartsWith("404"));
  EXPECT_THAT(get("/open"), StartsWith("200"));
  // The next program is that of the mark.
  Api api(dir_ / "data/kubeconfig");
  Json mark = route("mark", "/mark");
  mark["spec"]["rules"][0]["backendRef"]["name"] = "new";
  api.apply(mark);
  EXPECT_NE(proxy_->wait_programmed(), second);
  EXPECT_THAT(get("/mark"), StartsWith("200")) << "another program came between";
}

}  // namespace
}  // namespace edge::test
