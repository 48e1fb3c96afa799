// The control plane as users have it: real processes, the API by our own client, requests by curl.
#include <chrono>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "controller/kube/blocking_client.h"
#include "tests/cli/proxy_process.h"

namespace edge::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

/// Looks until it holds, at most half a minute.
bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

Json own(const std::string& kind, const std::string& name, const Json& spec) {
  return {{"apiVersion", "edgeproxy.io/v1alpha1"}, {"kind", kind}, {"metadata", {{"name", name}}}, {"spec", spec}};
}

Json route(const std::string& name, const std::string& path) {
  return own("ProxyRoute", name,
             {{"parentRefs", {{{"name", "gw"}}}},
              {"rules",
               {{{"matches", {{{"path", {{"type", "Exact"}, {"value", path}}}}}}, {"backendRef", {{"name", "be"}}}}}}});
}

/// The API behind a kubeconfig, as a user of kubectl has it.
class Api {
 public:
  explicit Api(const std::string& kubeconfig) {
    kube::ConfigSources sources;
    sources.kubeconfig = kubeconfig;
    auto config = kube::Config::resolve(sources);
    EXPECT_TRUE(config.ok()) << config.error().text;
    auto client = kube::BlockingClient::make(std::move(*config));
    EXPECT_TRUE(client.ok());
    client_ = std::move(*client);
  }

  void apply(const Json& object) {
    const auto found = client_->find_kind(object["apiVersion"], object["kind"]);
    ASSERT_TRUE(found.resource) << found.failure.text();
    kube::WriteOptions options;
    options.field_manager = "tester";
    options.force = true;
    const auto reply = client_->patch(*found.resource, "default", object["metadata"]["name"], kube::PatchType::kApply,
                                      object.dump(), options);
    ASSERT_TRUE(reply.ok()) << reply.failure.text();
  }
  void remove(const std::string& kind, const std::string& name) {
    const auto found = client_->find_kind("edgeproxy.io/v1alpha1", kind);
    ASSERT_TRUE(found.resource);
    EXPECT_TRUE(client_->remove(*found.resource, "default", name).ok());
  }
  /// null: there is none.
  Json get(const std::string& kind, const std::string& name) {
    const auto found = client_->find_kind("edgeproxy.io/v1alpha1", kind);
    if (!found.resource) return nullptr;
    const auto reply = client_->get(*found.resource, "default", name);
    return reply.ok() ? Json::parse(reply.object.text, nullptr, false) : Json();
  }
  /// Of the present generation; an empty object: there is none.
  Json condition(const std::string& kind, const std::string& name, const std::string& type) {
    const Json object = get(kind, name);
    if (!object.is_object() || !object.contains("status")) return Json::object();
    for (const Json& condition : object["status"].value("conditions", Json::array())) {
      if (condition["type"] == type && condition["observedGeneration"] == object["metadata"]["generation"]) {
        return condition;
      }
    }
    return Json::object();
  }
  bool says(const std::string& kind, const std::string& name, const std::string& type, const std::string& status) {
    return eventually([&] { return condition(kind, name, type).value("status", "") == status; });
  }
  void apply_world(int backend_port) {
    apply(own("ProxyGateway", "gw", {{"listeners", {{{"name", "http"}, {"port", 8080}, {"protocol", "HTTP"}}}}}));
    apply(own("ProxyBackend", "be", {{"serviceRef", {{"name", "be"}, {"port", 80}}}}));
    apply({{"apiVersion", "v1"},
           {"kind", "Service"},
           {"metadata", {{"name", "be"}}},
           {"spec", {{"ports", {{{"name", "http"}, {"port", 80}}}}}}});
    apply({{"apiVersion", "discovery.k8s.io/v1"},
           {"kind", "EndpointSlice"},
           {"metadata", {{"name", "be-1"}, {"labels", {{"kubernetes.io/service-name", "be"}}}}},
           {"addressType", "IPv4"},
           {"ports", {{{"name", "http"}, {"port", backend_port}}}},
           {"endpoints", {{{"addresses", {"127.0.0.1"}}}}}});
  }

 private:
  std::unique_ptr<kube::BlockingClient> client_;
};

class Control : public testing::Test {
 protected:
  std::unique_ptr<ProxyProcess> standalone(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"edge-standalone", "--data-dir", dir_ / "data"};
    words.insert(words.end(), more.begin(), more.end());
    return std::make_unique<ProxyProcess>(words);
  }
  bool answers(int port, const std::string& path, const std::string& with) {
    return eventually([&] { return curl(port, path).starts_with(with); });
  }
  /// The listener's port is told once the gateway is programmed.
  static int port_of(ProxyProcess& proxy) {
    const auto line = proxy.process.wait_err("listener http on ");
    return line ? std::atoi(line->c_str() + line->rfind(':') + 1) : 0;
  }

  TempDir dir_;
  Backend backend_{"one"};
};

TEST_F(Control, WhatIsAppliedIsServedAndSaysSo) {
  auto proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program="));
  Api api(dir_ / "data/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/a", "200 one got"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Ready", "True"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));
  EXPECT_TRUE(api.says("ProxyGateway", "gw", "Programmed", "True"));
  EXPECT_TRUE(eventually([&] {
    const Json status = api.get("ProxyGateway", "gw").value("status", Json::object());
    return status.contains("listeners") && status["listeners"][0]["attachedRoutes"] == 1;
  }));
  EXPECT_TRUE(eventually(
      [&] { return api.get("ProxyBackend", "be").value("status", Json::object()).value("healthyCount", 0) == 1; }));
  // Nothing is written at rest: what another resource goes through leaves its version as it is.
  const Json before = api.get("ProxyRoute", "a")["metadata"]["resourceVersion"];
  api.apply(route("b", "/b"));
  EXPECT_TRUE(api.says("ProxyRoute", "b", "Programmed", "True"));
  EXPECT_EQ(api.get("ProxyRoute", "a")["metadata"]["resourceVersion"], before);
  api.remove("ProxyRoute", "a");
  EXPECT_TRUE(answers(port, "/a", "404"));
  EXPECT_TRUE(answers(port, "/b", "200"));
}

TEST_F(Control, AFaultTakesNothingAwayEvenOverARestart) {
  {
    auto proxy = standalone();
    ASSERT_TRUE(proxy->process.wait_out("ready program="));
    Api api(dir_ / "data/kubeconfig");
    api.apply_world(backend_.port);
    api.apply(route("a", "/a"));
    const int port = port_of(*proxy);
    EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));
    Json broken = route("a", "/wide");
    broken["spec"]["expression"] = "path exact";
    api.apply(broken);
    EXPECT_TRUE(api.says("ProxyRoute", "a", "Accepted", "False"));
    EXPECT_THAT(api.condition("ProxyRoute", "a", "Accepted")["message"].get<std::string>(),
                HasSubstr("generation 1 of it stays in force"));
    api.apply(route("b", "/b"));
    EXPECT_TRUE(api.says("ProxyRoute", "b", "Programmed", "True"));
    EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
    EXPECT_THAT(curl(port, "/wide"), StartsWith("404"));
    proxy->process.send_signal(SIGKILL);
    proxy->process.wait_exit();
  }
  auto proxy = standalone();
  ASSERT_TRUE(proxy->process.wait_out("ready program="));
  Api again(dir_ / "data/kubeconfig");
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/b", "200")) << port << "\n" << proxy->process.err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  again.apply(route("c", "/c"));
  EXPECT_TRUE(again.says("ProxyRoute", "c", "Programmed", "True"));
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  EXPECT_THAT(curl(port, "/wide"), StartsWith("404"));
}

TEST_F(Control, WhatLeavesTheFilesLeavesTheApiAndNothingElse) {
  dir_.put("config/base.yaml", base_config(backend_.port));
  dir_.put("config/a.yaml", route_config("a", "/a"));
  dir_.put("config/b.yaml", route_config("b", "/b"));
  {
    auto proxy = standalone({"--config", dir_ / "config"});
    ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
    Api api(dir_ / "data/kubeconfig");
    api.apply(route("by-hand", "/by-hand"));
    EXPECT_TRUE(answers(proxy->port, "/by-hand", "200"));
    std::filesystem::remove(dir_ / "config/b.yaml");
    EXPECT_TRUE(answers(proxy->port, "/b", "404"));
    EXPECT_TRUE(api.get("ProxyRoute", "b").is_null());
    EXPECT_TRUE(api.get("ProxyRoute", "a").is_object());
  }
  // It is known over a restart what came from files; a folder that is gone for a moment takes nothing away.
  std::filesystem::remove(dir_ / "config/a.yaml");
  auto proxy = standalone({"--config", dir_ / "config"});
  ASSERT_NE(proxy->wait_ready(), "") << proxy->process.err_text();
  Api api(dir_ / "data/kubeconfig");
  EXPECT_TRUE(api.get("ProxyRoute", "a").is_null());
  EXPECT_TRUE(api.get("ProxyRoute", "by-hand").is_object());
  EXPECT_TRUE(answers(proxy->port, "/by-hand", "200"));
  std::filesystem::rename(dir_ / "config", dir_ / "elsewhere");
  EXPECT_TRUE(proxy->process.wait_err("correct the faults above")) << proxy->process.err_text();
  EXPECT_TRUE(api.get("ProxyBackend", "be").is_object());
  EXPECT_THAT(curl(proxy->port, "/by-hand"), StartsWith("200"));
}

/// API, controller and agent as processes of their own.
class Parts : public Control {
 protected:
  /// Its standard input must not end.
  std::unique_ptr<Process> serve_api(const std::string& port) {
    const std::string command = "p=\"$2.in\"; rm -f \"$p\"; mkfifo \"$p\"; exec 0<>\"$p\"; exec \"$1\" \"$2\" \"$3\"";
    auto process = std::make_unique<Process>(std::vector<std::string>{
        "sh", "-c", command, "sh", (bin_dir() / "serve_resource_api").string(), dir_ / "api", port});
    const auto line = process->wait_out("https://");
    api_port_ = line ? line->substr(line->rfind(':') + 1) : "";
    return process;
  }
  std::unique_ptr<Process> controller() {
    auto process = std::make_unique<Process>(std::vector<std::string>{
        "edge-controller", "--kubeconfig", dir_ / "api/kubeconfig", "--data-dir", dir_ / "controller", "--listen",
        "127.0.0.1:" + controller_port_, "--metrics", "127.0.0.1:0"});
    const auto line = process->wait_err("agents on port ");
    if (line) controller_port_ = std::to_string(std::atoi(line->c_str() + line->find("port ") + 5));
    return process;
  }
  std::unique_ptr<ProxyProcess> agent() {
    return std::make_unique<ProxyProcess>(
        std::vector<std::string>{"edge-agent", "--controller", "127.0.0.1:" + controller_port_, "--name", "one",
                                 "--token-file", dir_ / "controller/agents/join", "--data-dir", dir_ / "agent"});
  }

  std::string api_port_;
  std::string controller_port_ = "0";
};

TEST_F(Parts, TheApiAndTheControllerMayGoAndComeBack) {
  auto server = serve_api("0");
  ASSERT_NE(api_port_, "");
  auto control = controller();
  auto proxy = agent();
  Api api(dir_ / "api/kubeconfig");
  api.apply_world(backend_.port);
  api.apply(route("a", "/a"));
  const int port = port_of(*proxy);
  EXPECT_TRUE(answers(port, "/a", "200"));
  EXPECT_TRUE(api.says("ProxyRoute", "a", "Programmed", "True"));

  server->send_signal(SIGKILL);
  server->wait_exit();
  EXPECT_TRUE(control->wait_err("what is known of it stays in force")) << control->err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  server = serve_api(api_port_);
  api.apply(route("b", "/b"));
  EXPECT_TRUE(answers(port, "/b", "200"));

  control->send_signal(SIGKILL);
  control->wait_exit();
  api.apply(route("c", "/c"));
  EXPECT_THAT(curl(port, "/b"), StartsWith("200"));
  EXPECT_THAT(curl(port, "/c"), StartsWith("404"));
  control = controller();
  EXPECT_TRUE(answers(port, "/c", "200")) << control->err_text();
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
  EXPECT_TRUE(api.says("ProxyRoute", "c", "Programmed", "True"));

  control->send_signal(SIGTERM);
  EXPECT_EQ(control->wait_exit(), 0);
  EXPECT_THAT(curl(port, "/a"), StartsWith("200"));
}

}  // namespace
}  // namespace edge::tests
