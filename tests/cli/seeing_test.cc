// The commands that read what the edge does, with a real edge-standalone and a real Prometheus (Debian's).
#include <chrono>
#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/proxy_process.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr auto kPatience = std::chrono::seconds(120);
constexpr const char* kSecret = "Zml0dGluZy1zZWNyZXQ-of-nobody";

class SeeingProcess : public testing::Test {
 protected:
  void start() {
    backend_ = std::make_unique<Backend>("one");
    std::string config = base_config(backend_->port);
    const std::string spec = "spec: {listeners";
    config.replace(config.find(spec), spec.size(), "spec: {accessLog: {enabled: true}, listeners");
    dir_.put("config/all.yaml",
             config + "---\n" + route_config("cart", "/cart") + "---\n" + route_config("a", "/a") +
                 "---\napiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {htpasswd: \"" + kSecret +
                 "\"}\n");
    proxy_ = std::make_unique<ProxyProcess>(std::vector<std::string>{
        "edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data", "--access-log", "off"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }

  Finished edgectl(const std::string& words) const {
    return run_command(
        {"/bin/sh", "-c",
         "export KUBECONFIG='" + dir_ / "data/kubeconfig' HOME='" + dir_.path().string() + "'; exec edgectl " + words},
        {}, dir_.path());
  }
  /// Figures are scraped and lines written behind the request's back.
  Finished until(const std::string& words, const std::function<bool(const Finished&)>& good) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    Finished got = edgectl(words);
    while (!good(got) && std::chrono::steady_clock::now() < end) got = edgectl(words);
    return got;
  }

  static std::function<bool(const Finished&)> says(const std::string& text) {
    return [text](const Finished& one) { return one.out.find(text) != std::string::npos; };
  }

  TempDir dir_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(SeeingProcess, StatusTellsEachPart) {
  start();
  const Finished got = until("status", [](const Finished& one) { return one.code == 0; });
  EXPECT_EQ(got.code, 0) << got.out << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr("Health:       Healthy"), HasSubstr("Operator:     not installed"),
                             ContainsRegex("Controller:   [0-9.]+, program [0-9a-f]{12}"),
                             HasSubstr("Web UI:       not installed"), ContainsRegex("standalone +[^ ]+ +Current"),
                             ContainsRegex("ProxyRoute +2 +0")));
  EXPECT_THAT(edgectl("status -o json").out, HasSubstr("\"health\": \"Healthy\""));
  EXPECT_THAT(edgectl("status -o yaml").out, HasSubstr("health: Healthy"));
  // A part that is away takes none of the others with it.
  const Finished half = edgectl("status --controller 127.0.0.1:1");
  EXPECT_EQ(half.code, 1) << half.out;
  EXPECT_THAT(half.out, AllOf(HasSubstr("Health:       Degraded"), HasSubstr("Controller:   unknown: "),
                              ContainsRegex("ProxyRoute +2 +0")));
}

TEST_F(SeeingProcess, LogsAccessFollowsARequest) {
  start();
  ASSERT_THAT(curl(proxy_->port, "/cart"), HasSubstr("200"));
  const Finished seen = until("logs-access --route cart", [](const Finished& one) { return !one.out.empty(); });
  EXPECT_THAT(seen.out,
              ContainsRegex("Z standalone 127\\.0\\.0\\.1 \"GET shop.example/cart\" 200 [0-9.]+ms default/cart"))
      << seen.err;
  EXPECT_EQ(edgectl("logs-access --route cart --status 404").out, "");
  EXPECT_EQ(edgectl("logs-access --status 4").code, 2);
  // Each filter for itself takes the request, or leaves it out.
  for (const char* taking : {"--backend be", "--backend default/be", "--method get", "--path /cart", "--path /",
                             "--client 127.0.0.0/8", "--min-duration 0s", "--gateway gw", "--status 2xx --since 1h"}) {
    EXPECT_THAT(edgectl("logs-access " + std::string(taking)).out, HasSubstr("/cart")) << taking;
  }
  for (const char* other : {"--backend other", "--method POST", "--path /c", "--client ::1", "--min-duration 1h",
                            "--gateway 'a&route=cart'", "--route '../cart'", "--path '/cart?x'", "--backend '\"'",
                            "--method $'\\x1b[2J\\n'", "--status 4xx"}) {
    const Finished none = edgectl("logs-access " + std::string(other));
    EXPECT_EQ(none.code, 0) << other << none.err;
    EXPECT_EQ(none.out, "") << other;
  }
  for (const char* refused :
       {"--path cart", "--client 127.0.0", "--min-duration soon", "--status '2xx&x'", "--since 1"}) {
    EXPECT_EQ(edgectl("logs-access " + std::string(refused)).code, 2) << refused;
  }

  Process follow({"/bin/sh", "-c",
                  "export KUBECONFIG='" + dir_ / "data/kubeconfig' HOME='" + dir_.path().string() + "'; exec '" +
                      (bin_dir() / "edgectl").string() + "' logs-access --follow -o json --status 2xx"});
  ASSERT_TRUE(follow.wait_out("/cart")) << follow.err_text();
  ASSERT_THAT(curl(proxy_->port, "/nothing"), HasSubstr("404"));
  ASSERT_THAT(curl(proxy_->port, "/a"), HasSubstr("200"));
  const auto line = follow.wait_out("\"path\"");
  ASSERT_TRUE(line) << follow.err_text();
  EXPECT_THAT(*line, AllOf(HasSubstr("\"path\":\"/a\""), HasSubstr("\"agent\":\"standalone\"")));
}

TEST_F(SeeingProcess, LogsAreOfTheAgentAndOfTheController) {
  start();
  EXPECT_THAT(edgectl("logs agent --timestamps").out, ContainsRegex("Z standalone info "));
  EXPECT_THAT(edgectl("logs controller --tail 5").out, ContainsRegex("info "));
  EXPECT_EQ(edgectl("logs agent --node nowhere").out, "");
  EXPECT_EQ(edgectl("logs agent --tail x").code, 2);
  EXPECT_EQ(edgectl("logs web").code, 2);
}

TEST_F(SeeingProcess, LogLevelsChangeWhileTheyRun) {
  start();
  EXPECT_THAT(edgectl("log-level agent").out, ContainsRegex("DAEMON +LEVEL\nstandalone +info\n"));
  EXPECT_THAT(edgectl("log-level agent debug --agent standalone").out, ContainsRegex("standalone +debug\n"));
  // One process, one log.
  EXPECT_THAT(edgectl("log-level controller").out, ContainsRegex("controller +debug\n"));
  EXPECT_THAT(edgectl("log-level controller warn").out, ContainsRegex("controller +warn\n"));
  EXPECT_THAT(edgectl("logs agent --tail 1").out, HasSubstr("warn the log's level was changed to=warn"));
  const std::string address = " --agent 127.0.0.1:" + std::to_string(proxy_->health_port);
  EXPECT_EQ(edgectl("log-level agent error" + address).code, 0);
  EXPECT_THAT(edgectl("log-level agent" + address).out, ContainsRegex(" +error\n"));
  EXPECT_EQ(edgectl("log-level agent --node nowhere").out, "");
  EXPECT_EQ(edgectl("log-level agent loud").code, 2);
  EXPECT_EQ(edgectl("log-level agent debug --agent nobody").code, 3);
  EXPECT_THAT(edgectl("__complete log-level agent ''").out,
              AllOf(HasSubstr("debug"), HasSubstr("info"), HasSubstr("warn"), HasSubstr("error")));
}

TEST_F(SeeingProcess, CachesAndTrafficAreOfAllAgents) {
  start();
  EXPECT_THAT(edgectl("cache stats").out,
              AllOf(HasSubstr("AGENT"), HasSubstr("ENTRIES"), ContainsRegex("standalone +0")));
  EXPECT_EQ(edgectl("cache purge --all").out, "standalone: purged 0\n");
  EXPECT_EQ(edgectl("cache stats --agent nobody").code, 3);
  Process top({"/bin/sh", "-c",
               "export KUBECONFIG='" + dir_ / "data/kubeconfig' HOME='" + dir_.path().string() + "'; while :; do '" +
                   (bin_dir() / "edgectl").string() + "' top --once --interval 500ms; done"});
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::optional<std::string> line;
  // A request in each of its looks, until one is counted.
  Process requests({"/bin/sh", "-c",
                    "while :; do curl -s -o /dev/null -H 'Host: shop.example' http://127.0.0.1:" +
                        std::to_string(proxy_->port) + "/cart; done"});
  while (!line && std::chrono::steady_clock::now() < end) line = top.wait_out("default/cart");
  ASSERT_TRUE(line) << top.err_text();
  EXPECT_THAT(*line, ContainsRegex("default/gw +default/cart +[0-9.k]+ +0% +0%"));
}

TEST_F(SeeingProcess, ABundleHoldsNoSecret) {
  start();
  const Finished made = edgectl("debug bundle -o bundle.tar.gz");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(fs::status(dir_.path() / "bundle.tar.gz").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const Finished list = run_command({"tar", "-tzf", dir_ / "bundle.tar.gz"});
  for (const char* file :
       {"status.json", "versions.txt", "missing.txt", "resources/proxyroutes.yaml", "resources/secrets.yaml",
        "controller/history.json", "controller/metrics.txt", "controller/logs.ndjson",
        "agents/standalone/program.edgeprog", "agents/standalone/routes.txt", "agents/standalone/endpoints.json",
        "agents/standalone/metrics.txt", "agents/standalone/logs.ndjson"}) {
    EXPECT_THAT(list.out, HasSubstr("edge-bundle/" + std::string(file) + "\n"));
  }
  const Finished all = run_command({"tar", "-xzOf", dir_ / "bundle.tar.gz"});
  EXPECT_THAT(all.out, AllOf(HasSubstr("htpasswd: '<redacted>'"), Not(HasSubstr(kSecret)),
                             Not(HasSubstr("PRIVATE KEY")), Not(HasSubstr("Wm1sMGRHbHVaeTF6WldOeVpYUS1vZi1ub2JvZHk"))));
  // The secret as the API has it.
  const Finished base64 = edgectl("get secret users -o 'jsonpath={.data.htpasswd}'");
  ASSERT_GT(base64.out.size(), 8u) << base64.err;
  EXPECT_THAT(all.out, Not(HasSubstr(base64.out)));

  // With credentials in a resource its program, which has them too, stays here.
  dir_.put(
      "config/more.yaml",
      route_config("keyed", "/keyed") +
          "    filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: Authorization, value: " +
          kSecret + "}]}}]\n");
  ASSERT_NE(proxy_->wait_programmed(), "") << proxy_->process.err_text();
  ASSERT_EQ(edgectl("debug bundle -o bundle.tar.gz").code, 0);
  const Finished keyed = run_command({"tar", "-xzOf", dir_ / "bundle.tar.gz"});
  EXPECT_THAT(keyed.out, AllOf(Not(HasSubstr(kSecret)), HasSubstr("resources have credentials in their specs")));
}

TEST_F(SeeingProcess, MetricsAreReadFromPrometheus) {
  if (run_command({"/bin/sh", "-c", "command -v prometheus"}).code != 0) GTEST_SKIP() << "prometheus is not installed";
  start();
  dir_.put("prometheus.yml",
           "global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n- job_name: edge\n  static_configs: "
           "[{targets: ['127.0.0.1:" +
               std::to_string(proxy_->metrics_port) + "']}]\n");
  Process prometheus({"prometheus", "--config.file=" + dir_ / "prometheus.yml", "--storage.tsdb.path=" + dir_ / "tsdb",
                      "--web.listen-address=127.0.0.1:0"});
  const auto listening = prometheus.wait_err("msg=\"Listening on\"");
  ASSERT_TRUE(listening) << prometheus.err_text();
  const std::string port = listening->substr(listening->rfind(':') + 1);
  const std::string url = " --window 10s --metrics-url http://127.0.0.1:" + port;
  Process requests({"/bin/sh", "-c",
                    "while :; do for p in cart cart a nothing; do curl -s -o /dev/null -H 'Host: shop.example' "
                    "http://127.0.0.1:" +
                        std::to_string(proxy_->port) + "/$p; done; done"});
  const Finished query = until(
      "metrics query 'edge_requests_total{route=\"default/cart\",code=\"2xx\"}' --metrics-url "
      "127.0.0.1:" +
          port,
      says("default/cart"));
  EXPECT_THAT(query.out,
              ContainsRegex("edge_requests_total\\{backend=\"default/be\".*route=\"default/cart\"\\} +[0-9]+"));
  const Finished routes = until("metrics top-routes" + url, [](const Finished& one) {
    return one.out.find("default/cart") < one.out.find("default/a ") && one.out.find("default/a ") != std::string::npos;
  });
  EXPECT_THAT(routes.out, ContainsRegex("default/gw +default/cart +[0-9.]+ +0% +0% +[0-9.]+[mu]?s"));
  EXPECT_THAT(until("metrics top-backends" + url, says("default/be")).out, ContainsRegex("default/be +[0-9.]+ +0%"));
  EXPECT_THAT(until("metrics backends" + url, says("default/be")).out, HasSubstr("CIRCUIT"));
  EXPECT_THAT(until("metrics agent" + url, says("127.0.0.1")).out, ContainsRegex("127.0.0.1:[0-9]+ +[0-9a-f]{12}"));
  EXPECT_THAT(edgectl("metrics vips" + url).err, HasSubstr("there is no ProxyVIP"));
  EXPECT_THAT(until("metrics dashboard" + url, says("default/cart")).out,
              AllOf(HasSubstr("requests/s"), HasSubstr("█")));
  const Finished refused = edgectl("metrics query 'sum(' --metrics-url 127.0.0.1:" + port);
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("bad_data"));
}

// At once, without any other server: what came in the first seconds of the process.
TEST_F(SeeingProcess, MetricsAreReadFromTheAgentsThemselves) {
  start();
  for (int i = 0; i < 6; ++i) ASSERT_THAT(curl(proxy_->port, "/cart"), HasSubstr("200"));
  ASSERT_THAT(curl(proxy_->port, "/nothing"), HasSubstr("404"));
  // A request is counted when its last byte is sent, which is a moment after the client has it.
  const Finished query = until("metrics query 'edge_requests_total{route=\"default/cart\",code=\"2xx\"}'",
                               [](const Finished& one) { return one.out.find(" 6\n") != std::string::npos; });
  EXPECT_THAT(query.out,
              ContainsRegex("edge_requests_total\\{.*instance=\"standalone\", route=\"default/cart\"\\} +6\n"))
      << query.err;
  const Finished routes = edgectl("metrics top-routes");
  EXPECT_EQ(routes.code, 0) << routes.err;
  EXPECT_THAT(routes.out, AllOf(ContainsRegex("GATEWAY +ROUTE +REQUESTS/S +4XX +5XX +P50 +P99 +RECEIVED/S +SENT/S"),
                                ContainsRegex("default/gw +default/cart +[0-9.]+ +0% +0% +[0-9.]+[mu]?s"),
                                ContainsRegex("default/gw +<none> +[0-9.]+ +100% +0%")));
  EXPECT_THAT(edgectl("metrics top-backends").out, ContainsRegex("default/be +[0-9.]+ +0% +0%"));
  EXPECT_THAT(edgectl("metrics backends").out, ContainsRegex("default/be .* 1 +1 +Closed"));
  EXPECT_THAT(edgectl("metrics agent").out, ContainsRegex("standalone +[0-9a-f]{12} +[0-9]+ +[0-9.]+ +[0-9.]+MiB"));
  EXPECT_THAT(edgectl("metrics vips").err, HasSubstr("there is no ProxyVIP"));
  EXPECT_THAT(edgectl("metrics dashboard --once").out,
              AllOf(HasSubstr("requests/s"), HasSubstr("4xx"), HasSubstr("5xx"), HasSubstr("█"),
                    HasSubstr("default/cart"), HasSubstr("standalone")));
  EXPECT_THAT(edgectl("top --once").out, ContainsRegex("default/gw +default/cart +[0-9.]+ +0% +0%"));
  const std::string address = " --agent 127.0.0.1:" + std::to_string(proxy_->health_port);
  EXPECT_THAT(edgectl("metrics top-routes -o json" + address).out, HasSubstr("\"clientErrorPart\": 1.0"));
  const Finished wrong = edgectl("metrics query 'sum(edge_requests_total)'");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("--metrics-url"));
  EXPECT_THAT(edgectl("metrics top-routes --window 2h").err, HasSubstr("from 1s to 1h"));
  EXPECT_EQ(edgectl("metrics dashboard --range 2h").code, 2);
}

TEST_F(SeeingProcess, TheGatewaysOfAnAddressAreCountedWhereTheLinkerFindsIt) {
  start();
  const auto vip = [](const std::string& name_space, const std::string& name, const std::string& address) {
    return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyVIP\nmetadata: {name: " + name +
           ", namespace: " + name_space + "}\nspec: {address: " + address + ", interface: edge-none}\n---\n";
  };
  const auto gateway = [](const std::string& name, const std::string& vip_ref, const std::string& port = "80") {
    return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: " + name +
           "}\nspec: {vipRef: " + vip_ref + ", listeners: [{name: web, port: " + port + ", protocol: HTTP}]}\n---\n";
  };
  dir_.put("config/vips.yaml", vip("edge-system", "shared", "192.0.2.10/24") +
                                   vip("edge-system", "both", "192.0.2.11/24") +
                                   vip("default", "both", "192.0.2.12/24") + gateway("bare", "shared", "8181") +
                                   gateway("own", "both") + gateway("written", "edge-system/both"));
  const Finished vips = until("metrics vips", says("192.0.2.12"));
  EXPECT_THAT(vips.out, ContainsRegex("edge-system/shared +192.0.2.10/24 +default/bare"));
  EXPECT_THAT(vips.out, ContainsRegex("default/both +192.0.2.12/24 +default/own"));
  EXPECT_THAT(vips.out, ContainsRegex("edge-system/both +192.0.2.11/24 +default/written"));
  // No machine has this interface, and none of its own gets an address.
  EXPECT_THAT(until("explain http://shop.example:8181/", says("none, ")).out,
              ContainsRegex("bind +192.0.2.10:8181\nnode +none, .* \\(ProxyVIP edge-system/shared\\)"));
}

TEST_F(SeeingProcess, WhatBecomesAmissIsLoggedOnceAndListedWhileItLasts) {
  start();
  dir_.put("config/more.yaml",
           "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: gone}\n"
           "spec: {serviceRef: {name: gone, port: 80}, healthCheck: {protocol: TCP, interval: 200ms, timeout: 200ms, "
           "unhealthyThreshold: 1, healthyThreshold: 1}}\n---\n"
           "apiVersion: v1\nkind: Service\nmetadata: {name: gone}\nspec: {ports: [{name: http, port: 80}]}\n---\n"
           "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: gone-1, labels: "
           "{kubernetes.io/service-name: gone}}\naddressType: IPv4\nports: [{name: http, port: 1}]\n"
           "endpoints: [{addresses: [127.0.0.1]}]\n---\n"
           "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: gone}\n"
           "spec: {parentRefs: [{name: gw}], rules: [{matches: [{path: {type: Exact, value: /gone}}], backendRef: "
           "{name: gone}}]}\n"
           "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: lost}\n"
           "spec: {ingressClassName: nowhere, defaultBackend: {service: {name: gone, port: {number: 80}}}}\n"
           "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: adrift}\n"
           "spec: {parentRefs: [{name: nowhere}], rules: [{backendRef: {name: be}}]}\n");
  const auto line = proxy_->process.wait_err("endpoint 127.0.0.1:1 of backend default/gone is down");
  ASSERT_TRUE(line) << proxy_->process.err_text();
  EXPECT_THAT(*line, HasSubstr(" warn "));
  const Finished status = until("status", [](const Finished& one) {
    return one.out.find("backend default/gone has no endpoint that takes requests") != std::string::npos;
  });
  EXPECT_EQ(status.code, 1);
  EXPECT_THAT(
      status.out,
      AllOf(HasSubstr("Health:       Degraded"),
            ContainsRegex("agent standalone: endpoint 127\\.0\\.0\\.1:1 of backend default/gone is down: .*since 20")));
  const auto reported = [](const Finished& one) { return one.out.find("Rejected") != std::string::npos; };
  EXPECT_THAT(until("describe ingress lost", reported).out, HasSubstr("there is no IngressClass `nowhere`"));
  EXPECT_THAT(until("describe route adrift", reported).out, ContainsRegex("Accepted.*False"));
  // Told once, however often it is looked at.
  const std::string log = edgectl("logs agent").out;
  const std::string down = "endpoint 127.0.0.1:1 of backend default/gone is down";
  EXPECT_EQ(log.find(down), log.rfind(down)) << log;
  fs::remove(dir_.path() / "config/more.yaml");
  EXPECT_EQ(until("status", [](const Finished& one) { return one.code == 0; }).code, 0);
}

TEST(SeeingCommands, SayWhatCannotBeReachedAndWhatIsWrong) {
  const auto run = [](std::vector<std::string> words) { return run_command(std::move(words)); };
  EXPECT_EQ(run({"edgectl", "metrics", "query", "up", "--agent", "127.0.0.1:1"}).code, 3);
  EXPECT_EQ(run({"edgectl", "metrics", "top-routes", "--agent", "127.0.0.1:1"}).code, 3);
  EXPECT_EQ(run({"edgectl", "metrics", "query", "up", "--metrics-url", "http://127.0.0.1:1"}).code, 3);
  EXPECT_EQ(run({"edgectl", "metrics", "top-routes", "--metrics-url", "x", "--limit", "0"}).code, 2);
  EXPECT_EQ(run({"edgectl", "metrics", "agent", "--metrics-url", "x", "--window", "soon"}).code, 2);
  EXPECT_EQ(run({"edgectl", "top", "--agent", "127.0.0.1:1", "--once", "--interval", "100ms"}).code, 3);
  EXPECT_EQ(run({"edgectl", "logs-access", "--agent", "127.0.0.1:1"}).code, 3);
  EXPECT_EQ(run({"edgectl", "debug", "bundle"}).code, 2);
}

TEST(LiveScreen, IsDrawnResizedAndLeftInEveryWay) {
  const Finished got =
      run_command({"python3", EDGE_SOURCE_DIR "/tests/cli/screen/dashboard.py", (bin_dir() / "edgectl").string()});
  EXPECT_EQ(got.code, 0) << got.out << got.err;
}

}  // namespace
}  // namespace edge::test
