// Several controllers, several agents, and what one of them does to the others.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/os/file.h"
#include "tests/control/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A number of /metrics; -1: it is not there.
double metric(int port, const std::string& name) {
  const std::string text = run_command({"curl", "-s", "http://127.0.0.1:" + std::to_string(port) + "/metrics"}).out;
  const std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::atof(text.c_str() + at + name.size() + 2);
}

int metrics_port_of(Process& controller) {
  const auto line = controller.wait_err("metrics on ");
  return line ? std::atoi(line->c_str() + line->rfind(':') + 1) : 0;
}

class Several : public Parts {};

TEST_F(Several, ControllersCompileAllAndOneOfThemWritesStatuses) {
  auto server = serve_api();
  const std::vector<std::string> elect = {"--leader-elect", "--lease-namespace", "default"};
  auto first = controller("first", elect);
  auto second = controller("second", elect);
  std::map<std::string, int> metrics = {{"first", metrics_port_of(*first)}, {"second", metrics_port_of(*second)}};
  const auto leads = [&](const std::string& name) { return metric(metrics[name], "edge_controller_leader") == 1; };
  auto near = agent("near", "first");
  auto far = agent("far", "second");
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  std::map<std::string, int> ports = {{"first", port_of(*near)}, {"second", port_of(*far)}};
  EXPECT_TRUE(answers(ports["first"], "/a", "200"));
  EXPECT_TRUE(answers(ports["second"], "/a", "200"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));
  ASSERT_TRUE(eventually([&] { return leads("first") != leads("second"); }));
  const std::string leader = leads("first") ? "first" : "second";
  const std::string other = leader == "first" ? "second" : "first";
  EXPECT_GT(metric(metrics[leader], "edge_controller_status_writes_total"), 0);
  EXPECT_EQ(metric(metrics[other], "edge_controller_status_writes_total"), 0);

  // Killed: it gives nothing back. Its agent serves on; the other controller takes over when the lease is over.
  auto& killed = leader == "first" ? first : second;
  killed->send_signal(SIGKILL);
  killed->wait_exit();
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(ports[other], "/b", "200"));
  EXPECT_TRUE(eventually([&] { return leads(other); }));
  EXPECT_TRUE(api.says("ProxyRoute", "b", "Programmed", "True"));
  EXPECT_THAT(curl(ports[leader], "/a"), StartsWith("200"));
  EXPECT_THAT(curl(ports[leader], "/b"), StartsWith("404"));
  EXPECT_GT(metric(metrics[other], "edge_controller_status_writes_total"), 0);
}

/// Whoever may make a gateway must not be able to stop what everybody else changes.
TEST_F(Several, AGatewayWhoseAddressNoNodeHasHarmsItselfAlone) {
  auto server = serve_api();
  auto control = controller();
  auto one = agent("one");
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  const int port = port_of(*one);
  // Of TEST-NET-2 (RFC 5737).
  api.apply(own("ProxyVIP", "nowhere", {{"address", "198.51.100.7/32"}, {"mode", "L2ARP"}}));
  Json far = own("ProxyGateway", "far", api.get("ProxyGateway", "gw")["spec"]);
  far["spec"]["vipRef"] = "nowhere";
  far["spec"]["listeners"][0]["port"] = 8081;
  // With one name, ports could not be told apart.
  far["spec"]["listeners"][0]["name"] = "away";
  api.apply(far);
  EXPECT_TRUE(api.says("ProxyGateway", "far", "Programmed", "False"));
  EXPECT_TRUE(eventually(
      [&] { return api.condition("ProxyGateway", "far", "Programmed").value("reason", "") == "AddressNotUsable"; }));
  EXPECT_THAT(api.condition("ProxyGateway", "far", "Ready")["message"].get<std::string>(),
              HasSubstr("agent one: listens on 198.51.100.7 port "));
  const Json listeners = api.get("ProxyGateway", "far")["status"]["listeners"];
  EXPECT_THAT(listeners[0]["conditions"].dump(), HasSubstr("AddressNotUsable"));
  EXPECT_EQ(api.condition("ProxyGateway", "gw", "Programmed")["status"], "True")
      << api.get("ProxyGateway", "gw").dump();

  api.apply(route("a", "/a"));
  ASSERT_TRUE(answers(port, "/a", "200")) << one->process.err_text() << api.get("ProxyRoute", "a").dump();
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));
  EXPECT_THAT(edgectl({"status"}).out, HasSubstr("listener default/far/away: agent one: listens on 198.51.100.7"));
  EXPECT_THAT(edgectl({"agents", "describe", "one"}).out, HasSubstr("Not bound:"));
}

/// PEM blocks with nothing in them that could be a certificate.
TEST_F(Several, AListenerWhoseSecretHoldsGarbageIsNotReady) {
  auto server = serve_api();
  auto control = controller();
  auto one = agent("one");
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply({{"apiVersion", "v1"},
             {"kind", "Secret"},
             {"metadata", {{"name", "garbage"}, {"namespace", "default"}}},
             {"type", "kubernetes.io/tls"},
             {"stringData",
              {{"tls.crt", "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"},
               {"tls.key", "-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n"}}}});
  Json secure = own("ProxyGateway", "secure", api.get("ProxyGateway", "gw")["spec"]);
  secure["spec"]["listeners"][0] = {
      {"name", "tls"}, {"port", 8443}, {"protocol", "HTTPS"}, {"tls", {{"secretRef", {{"name", "garbage"}}}}}};
  api.apply(secure);
  ASSERT_TRUE(eventually([&] {
    return api.condition("ProxyGateway", "secure", "Ready").value("reason", "") == "InvalidCertificateRef";
  })) << api.get("ProxyGateway", "secure").dump();
  EXPECT_EQ(api.condition("ProxyGateway", "secure", "Ready")["status"], "False");
  EXPECT_EQ(api.condition("ProxyGateway", "gw", "Ready")["status"], "True");
  EXPECT_THAT(api.get("ProxyGateway", "secure")["status"]["listeners"][0]["conditions"].dump(),
              HasSubstr("every handshake is refused"));
}

std::string gateway_api_definition(const std::string& kind, const std::string& plural, const std::string& scope) {
  std::string singular = kind;
  std::ranges::transform(singular, singular.begin(), [](unsigned char c) { return std::tolower(c); });
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
         "metadata: {name: " +
         plural +
         ".gateway.networking.k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}\n"
         "spec:\n  group: gateway.networking.k8s.io\n  scope: " +
         scope + "\n  names: {kind: " + kind + ", plural: " + plural + ", singular: " + singular +
         ", listKind: " + kind +
         "List}\n  versions:\n  - {name: v1, served: true, storage: true, subresources: {status: {}}, "
         "schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n---\n";
}

/// A gateway of each API with a route each, all of one class. `of`: ends every name and path.
std::string things_of_class(const std::string& of, const std::string& controller_class) {
  const std::string rule = "{matches: [{path: {type: Exact, value: /";
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: own-" + of +
         "}\nspec: {loadBalancerClass: " + controller_class + ", listeners: [{name: own-" + of +
         ", port: 8080, protocol: HTTP}]}\n---\n"
         "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: own-" +
         of + "}\nspec: {parentRefs: [{name: own-" + of + "}], rules: [" + rule + "own-" + of +
         "}}], backendRef: {name: be}}]}\n---\n"
         "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: class-" +
         of + "}\nspec: {controller: " + controller_class +
         "}\n---\n"
         "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: ingress-" +
         of + "}\nspec: {ingressClassName: class-" + of + ", rules: [{http: {paths: [{path: /ingress-" + of +
         ", pathType: Exact, backend: {service: {name: be, port: {number: 80}}}}]}}]}\n---\n"
         "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: class-" +
         of + "}\nspec: {controllerName: " + controller_class +
         "}\n---\n"
         "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw-" +
         of + "}\nspec: {gatewayClassName: class-" + of + ", listeners: [{name: gw-" + of +
         ", port: 8081, protocol: HTTP}]}\n---\n"
         "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: gw-" +
         of + "}\nspec: {parentRefs: [{name: gw-" + of + "}], rules: [" + rule + "gw-" + of +
         "}}], backendRefs: [{name: be, port: 80}]}]}\n---\n";
}

/// By the lines of the agent, which come in any order; 0: it never told.
std::map<std::string, int> listener_ports(Process& agent, const std::vector<std::string>& names) {
  std::map<std::string, int> ports;
  for (const std::string& name : names) ports.emplace(name, 0);
  const auto known = [](const auto& port) { return port.second != 0; };
  while (!std::ranges::all_of(ports, known)) {
    const auto line = agent.wait_err("listener ");
    if (!line) break;
    std::istringstream words(line->substr(line->find("listener ") + 9));
    std::string name, on, address;
    words >> name >> on >> address;
    if (on != "on" || !ports.contains(name)) continue;
    ports[name] = std::atoi(address.c_str() + address.rfind(':') + 1);
  }
  return ports;
}

/// Rule D8.
TEST_F(Several, ControllersOfTwoClassesServeEachItsOwnOfEveryApi) {
  const std::map<std::string, std::string> classes = {{"a", "edgeproxy.io/proxy"}, {"b", "example.com/other"}};
  auto server = serve_api();
  const auto with_api = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "edgectl");
    words.insert(words.end(), {"--kubeconfig", dir_ / "api/kubeconfig"});
    return run_command(words);
  };
  dir_.put("definitions.yaml", gateway_api_definition("GatewayClass", "gatewayclasses", "Cluster") +
                                   gateway_api_definition("Gateway", "gateways", "Namespaced") +
                                   gateway_api_definition("HTTPRoute", "httproutes", "Namespaced"));
  const Finished defined = with_api({"apply", "-f", dir_ / "definitions.yaml"});
  ASSERT_EQ(defined.code, 0) << defined.err;
  auto first = controller("a");
  auto second = controller("b", {"--controller-class", classes.at("b")});
  std::map<std::string, std::unique_ptr<ProxyProcess>> agents;
  for (const auto& [of, controller_class] : classes) agents[of] = agent("of-" + of, of);
  Api api(dir_ / "api/kubeconfig");
  // Without a gateway whose listener has the name of another.
  const std::string world = base_config(backend_.port);
  dir_.put("things.yaml", world.substr(world.find("---\n")) + "---\n" + things_of_class("a", classes.at("a")) +
                              things_of_class("b", classes.at("b")));
  const Finished applied = with_api({"apply", "-f", dir_ / "things.yaml"});
  ASSERT_EQ(applied.code, 0) << applied.err;

  std::map<std::string, int> own_ports;
  for (const auto& [of, controller_class] : classes) {
    const std::string other = of == "a" ? "b" : "a";
    Process& process = agents[of]->process;
    std::map<std::string, int> ports = listener_ports(process, {"own-" + of, "http", "gw-" + of});
    // That of an Ingress has no name of its own.
    ports["ingress-" + of] = ports["http"];
    ports.erase("http");
    own_ports[of] = ports.at("own-" + of);
    for (const auto& [name, port] : ports) {
      EXPECT_TRUE(answers(port, "/" + name, "200 one got"))
          << name << '\n'
          << process.err_text() << (of == "a" ? first : second)->err_text();
      for (const char* api_of : {"own-", "ingress-", "gw-"}) {
        EXPECT_THAT(curl(port, "/" + (api_of + other)), StartsWith("404")) << name;
      }
    }
    EXPECT_TRUE(api.says("ProxyGateway", "own-" + of, "Programmed", "True"));
    EXPECT_TRUE(api.says("ProxyRoute", "own-" + of, "Programmed", "True"));
    const auto tells = [&](const std::string& what, const std::string& text) {
      return eventually([&] { return with_api({"get", what, "-o", "json"}).out.find(text) != std::string::npos; });
    };
    EXPECT_TRUE(tells("gatewayclass/class-" + of, "\"Accepted\""));
    EXPECT_TRUE(tells("gateway.gateway.networking.k8s.io/gw-" + of, "\"Programmed\""));
    EXPECT_TRUE(tells("httproute/gw-" + of, "\"controllerName\": \"" + controller_class + "\""));
    EXPECT_THAT(with_api({"get", "httproute/gw-" + of, "-o", "json"}).out, Not(HasSubstr(classes.at(other))));
  }
  // Of a backend that routes of one class use, that class's controller alone writes the status.
  const Json only = Json::parse(R"({"apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyBackend",
      "metadata": {"name": "only-b", "namespace": "default"}, "spec": {"serviceRef": {"name": "be", "port": 80}}})");
  Json user = route("only-b", "/only-b");
  user["spec"]["parentRefs"] = {{{"name", "own-b"}}};
  user["spec"]["rules"][0]["backendRef"] = {{"name", "only-b"}};
  api.apply(user);
  api.apply(only);
  EXPECT_TRUE(answers(own_ports["b"], "/only-b", "200"));
  EXPECT_TRUE(api.says("ProxyBackend", "only-b", "Healthy", "True"));
  // One without agents sees every endpoint otherwise than those that have some.
  auto third = controller("c", {"--controller-class", "example.com/third"});
  std::set<std::string> versions;
  for (int i = 0; i < 100; ++i) {
    const Json read = Json::parse(with_api({"get", "proxybackend/only-b", "-o", "json"}).out, nullptr, false);
    ASSERT_FALSE(read.is_discarded());
    versions.insert(read["metadata"]["resourceVersion"].get<std::string>());
  }
  EXPECT_LE(versions.size(), 3U) << "controllers write a status in turns";
  // Whatever either would have opened for the other by now, it has told of before this is served.
  for (const auto& [of, controller_class] : classes) {
    Json late = route("late-" + of, "/late-" + of);
    late["spec"]["parentRefs"] = {{{"name", "own-" + of}}};
    api.apply(late);
    EXPECT_TRUE(answers(own_ports[of], "/late-" + of, "200"));
    const std::string other = of == "a" ? "b" : "a";
    EXPECT_THAT(agents[of]->process.err_text(), Not(HasSubstr("listener own-" + other)));
    EXPECT_THAT(agents[of]->process.err_text(), Not(HasSubstr("listener gw-" + other)));
    EXPECT_TRUE(api.says("ProxyGateway", "own-" + of, "Programmed", "True"));
  }
}

/// A port that another daemon of the same host has by its default.
TEST_F(Several, APortThatIsTakenIsToldWithItsFlag) {
  auto server = serve_api();
  auto control = controller();
  const std::string port = controller_ports_["controller"];
  const Finished taken = run_command({"edge-controller", "--kubeconfig", dir_ / "api/kubeconfig", "--data-dir",
                                      dir_ / "second", "--agents-listen", "127.0.0.1:" + port, "--metrics-listen",
                                      "off", "--otlp-listen", "off", "--traces-listen", "off"});
  EXPECT_NE(taken.code, 0);
  EXPECT_THAT(taken.err, HasSubstr("cannot listen on 127.0.0.1:" + port + " (--agents-listen): port is in use"));
  const Finished metrics = run_command({"edge-controller", "--kubeconfig", dir_ / "api/kubeconfig", "--data-dir",
                                        dir_ / "third", "--agents-listen", "127.0.0.1:0", "--metrics-listen",
                                        "127.0.0.1:" + port, "--otlp-listen", "off", "--traces-listen", "off"});
  EXPECT_NE(metrics.code, 0);
  EXPECT_THAT(metrics.err, HasSubstr("cannot listen on 127.0.0.1:" + port + " (--metrics-listen): port is in use"));
  const Finished api = run_command({"edge-standalone", "--data-dir", dir_ / "fourth", "--api-listen",
                                    "127.0.0.1:" + port, "--metrics-listen", "off", "--health-listen", "off",
                                    "--otlp-listen", "off", "--traces-listen", "off"});
  EXPECT_NE(api.code, 0);
  EXPECT_THAT(api.err, HasSubstr("cannot listen on 127.0.0.1:" + port + " (--api-listen): port is in use"));
  const Finished agents = run_command({"edge-standalone", "--data-dir", dir_ / "fifth", "--api-listen", "127.0.0.1:0",
                                       "--agents-listen", "127.0.0.1:" + port, "--metrics-listen", "off",
                                       "--health-listen", "off", "--otlp-listen", "off", "--traces-listen", "off"});
  EXPECT_NE(agents.code, 0);
  EXPECT_THAT(agents.err, HasSubstr("cannot listen on 127.0.0.1:" + port + " (--agents-listen): port is in use"));
  for (const std::string flag : {"--otlp-listen", "--traces-listen"}) {
    const std::string other = flag == "--otlp-listen" ? "--traces-listen" : "--otlp-listen";
    const Finished traces = run_command({"edge-standalone", "--data-dir", dir_ / "sixth", flag, "127.0.0.1:" + port,
                                         other, "off", "--metrics-listen", "off", "--health-listen", "off"});
    EXPECT_NE(traces.code, 0);
    EXPECT_THAT(traces.err, HasSubstr("port " + port + " is in use (" + flag + ")"));
  }
}

/// A machine that hangs: its agent answers nothing, and its connections stay open.
TEST_F(Several, AnAgentThatStopsHarmsNoOtherAndIsNamed) {
  auto server = serve_api();
  auto control = controller();
  const int metrics = metrics_port_of(*control);
  auto good = agent("good");
  auto hung = agent("hung");
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int port = port_of(*good);
  EXPECT_TRUE(answers(port, "/a", "200"));
  const int hung_port = port_of(*hung);
  EXPECT_TRUE(answers(hung_port, "/a", "200"));
  EXPECT_EQ(edgectl({"patch", "rt", "a", "--type", "merge", "-p", R"({"metadata":{"labels":{"x":"y"}}})",
                     "--wait=programmed"})
                .code,
            0);

  hung->process.send_signal(SIGSTOP);
  const Finished waited =
      edgectl({"patch", "rt", "a", "--type", "merge", "-p", R"({"spec":{"hostnames":["shop.example"]}})",
               "--wait=programmed", "--timeout", "6s"});
  EXPECT_EQ(waited.code, 1);
  EXPECT_THAT(waited.err, HasSubstr("proxyroute/a is not programmed yet: behind: hung"));
  // What it said before is no answer of its own.
  for (const char* what : {"config", "backends", "vips"}) {
    EXPECT_EQ(edgectl({"agent", what, "good"}).code, 0) << what;
    EXPECT_EQ(edgectl({"agent", what, "hung", "--request-timeout", "1s"}).code, 3) << what;
  }
  EXPECT_EQ(metric(metrics, "edge_controller_agents_connected"), 2);
  for (int i = 0; i < 30; ++i) {
    const std::string path = "/r" + std::to_string(i);
    api.apply(route("r" + std::to_string(i), path));
    ASSERT_TRUE(answers(port, path, "200")) << i;
  }
  // Pings tell that nobody is there; what others are waiting for does not count it any more.
  EXPECT_TRUE(eventually([&] { return metric(metrics, "edge_controller_agents_connected") == 1; }));
  EXPECT_EQ(edgectl({"patch", "rt", "a", "--type", "merge", "-p", R"({"spec":{"hostnames":["a.example"]}})",
                     "--wait=programmed"})
                .code,
            0);
  // It goes on, and catches up.
  hung->process.send_signal(SIGCONT);
  EXPECT_TRUE(answers(hung_port, "/r29", "200"));
  EXPECT_TRUE(eventually([&] { return metric(metrics, "edge_controller_agents_connected") == 2; }));
}

/// Not what it reported to the controller, which `agents describe` prints.
TEST_F(Several, TheAddressesOfAnAgentAreThoseThatItSaysItHasNow) {
  auto server = serve_api();
  auto control = controller();
  auto one = agent("one");
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  // Of TEST-NET-2 (RFC 5737): no node has its network.
  api.apply(own("ProxyVIP", "away", {{"address", "198.51.100.7/32"}, {"mode", "L2ARP"}}));
  Json gateway = own("ProxyGateway", "gw", api.get("ProxyGateway", "gw")["spec"]);
  gateway["spec"]["vipRef"] = "away";
  api.apply(gateway);
  const auto says = [&](const std::vector<std::string>& words) {
    return eventually([&] { return edgectl(words).out.find("198.51.100.7") != std::string::npos; });
  };
  EXPECT_TRUE(says({"agents", "describe", "one"}));
  EXPECT_TRUE(says({"agent", "vips", "one"}));
  const Json data = Json::parse(edgectl({"agent", "vips", "one", "-o", "json"}).out, nullptr, false);
  ASSERT_EQ(data.value("vips", Json::array()).size(), 1U) << data.dump();
  EXPECT_EQ(data["vips"][0]["name"], "away");
  EXPECT_EQ(data["vips"][0]["held"], false);
  EXPECT_THAT(data["vips"][0]["reason"].get<std::string>(), testing::Not(testing::IsEmpty()));

  one->process.send_signal(SIGSTOP);
  const Finished asked = edgectl({"agent", "vips", "one", "--request-timeout", "1s"});
  EXPECT_EQ(asked.code, 3) << asked.out;
  EXPECT_EQ(asked.out, "");
  EXPECT_THAT(edgectl({"agents", "describe", "one"}).out, HasSubstr("198.51.100.7"));
  one->process.send_signal(SIGCONT);
  EXPECT_TRUE(says({"agent", "vips", "one"}));
}

/// A newer binary takes the listeners over from the one that runs, with its name and its data directory.
TEST_F(Several, AnAgentTakesOverFromAnotherAndFollowsTheController) {
  auto server = serve_api();
  auto control = controller();
  const std::vector<std::string> upgrade = {"--upgrade-socket", dir_ / "upgrade", "--drain-timeout", "30s"};
  auto old = agent("one", "controller", upgrade);
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int port = port_of(*old);
  EXPECT_TRUE(answers(port, "/a", "200"));
  // What a successor begins with.
  EXPECT_TRUE(eventually([&] {
    const auto kept = read_file(dir_ / "agent-one/program.edgeprog", std::size_t{1} << 24);
    return kept.ok() && kept->find("/a") != std::string::npos;
  }));
  std::atomic<bool> ending = false;
  std::vector<std::string> failed;  // of the thread until it is joined
  std::thread load([&] {
    while (!ending) {
      if (std::string answer = curl(port, "/a"); !answer.starts_with("200")) failed.push_back(std::move(answer));
    }
  });
  auto fresh = agent("one", "controller", upgrade);
  EXPECT_EQ(old->process.wait_exit(), 0) << old->process.err_text();
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(port, "/b", "200"));
  EXPECT_TRUE(api.says("ProxyRoute", "b", "Programmed", "True"));
  ending = true;
  load.join();
  EXPECT_THAT(failed, testing::IsEmpty());
  EXPECT_EQ(edgectl({"agents", "list", "-o", "name"}).out, "one\n");
}

}  // namespace
}  // namespace edge::test
