#include "tests/control/world.h"

#include <chrono>
#include <thread>

#include <nlohmann/json.hpp>

namespace edge::test {
namespace {

using namespace std::chrono_literals;

}  // namespace

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

Api::Api(const std::string& kubeconfig) {
  kube::ConfigSources sources;
  sources.kubeconfig = kubeconfig;
  auto config = kube::Config::resolve(sources);
  EXPECT_TRUE(config.ok()) << config.error().text;
  auto client = kube::BlockingClient::make(std::move(*config));
  EXPECT_TRUE(client.ok());
  client_ = std::move(*client);
}

void Api::apply(const Json& object) {
  const auto found = client_->find_kind(object["apiVersion"], object["kind"]);
  ASSERT_TRUE(found.resource) << found.failure.text();
  kube::WriteOptions options;
  options.field_manager = "tester";
  options.force = true;
  const auto reply = client_->patch(*found.resource, "default", object["metadata"]["name"], kube::PatchType::kApply,
                                    object.dump(), options);
  ASSERT_TRUE(reply.ok()) << reply.failure.text();
}

void Api::remove(const std::string& kind, const std::string& name) {
  const auto found = client_->find_kind("edgeproxy.io/v1alpha1", kind);
  ASSERT_TRUE(found.resource);
  EXPECT_TRUE(client_->remove(*found.resource, "default", name).ok());
}

Json Api::get(const std::string& kind, const std::string& name) {
  const auto found = client_->find_kind("edgeproxy.io/v1alpha1", kind);
  if (!found.resource) return nullptr;
  const auto reply = client_->get(*found.resource, "default", name);
  return reply.ok() ? Json::parse(reply.object.text, nullptr, false) : Json();
}

Json Api::condition(const std::string& kind, const std::string& name, const std::string& type) {
  const Json object = get(kind, name);
  if (!object.is_object() || !object.contains("status")) return Json::object();
  for (const Json& condition : object["status"].value("conditions", Json::array())) {
    if (condition["type"] == type && condition["observedGeneration"] == object["metadata"]["generation"]) {
      return condition;
    }
  }
  return Json::object();
}

bool Api::says(const std::string& kind, const std::string& name, const std::string& type, const std::string& status) {
  return eventually([&] { return condition(kind, name, type).value("status", "") == status; });
}

void Api::apply_world(int backend_port) {
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

std::unique_ptr<ProxyProcess> Control::standalone(const std::vector<std::string>& more) {
  std::vector<std::string> words = {"edge-standalone", "--data-dir", dir_ / "data"};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<ProxyProcess>(words);
}

bool Control::answers(int port, const std::string& path, const std::string& with) {
  return eventually([&] { return curl(port, path).starts_with(with); });
}

int Control::port_of(ProxyProcess& proxy) {
  const auto line = proxy.process.wait_err("listener http on ");
  return line ? std::atoi(line->c_str() + line->rfind(':') + 1) : 0;
}

std::unique_ptr<Process> Parts::serve_api() {
  const std::string command = "p=\"$2.in\"; rm -f \"$p\"; mkfifo \"$p\"; exec 0<>\"$p\"; exec \"$1\" \"$2\" \"$3\"";
  auto process = std::make_unique<Process>(std::vector<std::string>{
      "sh", "-c", command, "sh", (bin_dir() / "serve_resource_api").string(), dir_ / "api", api_port_});
  process->wait_out("https://");
  return process;
}

std::unique_ptr<Process> Parts::controller(const std::string& name, const std::vector<std::string>& more) {
  std::string& port = controller_ports_[name];
  if (port.empty()) port = std::to_string(lasting_port());
  std::vector<std::string> words = {"edge-controller",   "--kubeconfig",     dir_ / "api/kubeconfig",
                                    "--data-dir",        dir_ / name,        "--agents-listen",
                                    "127.0.0.1:" + port, "--metrics-listen", "127.0.0.1:0"};
  words.insert(words.end(), {"--otlp-listen", "off", "--traces-listen", "off"});
  words.insert(words.end(), more.begin(), more.end());
  auto process = std::make_unique<Process>(words);
  process->wait_err("agents on port ");
  return process;
}

std::unique_ptr<ProxyProcess> Parts::agent(const std::string& name, const std::string& of,
                                           const std::vector<std::string>& more) {
  std::vector<std::string> words = {"edge-agent",
                                    "--controller",
                                    "127.0.0.1:" + controller_ports_[of],
                                    "--name",
                                    name,
                                    "--token-file",
                                    dir_ / (of + "/agents/join"),
                                    "--data-dir",
                                    dir_ / ("agent-" + name)};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<ProxyProcess>(words);
}

Finished Parts::edgectl(std::vector<std::string> words, const std::string& of) {
  words.insert(words.begin(), "edgectl");
  words.insert(words.end(), {"--kubeconfig", dir_ / "api/kubeconfig", "--credentials",
                             dir_ / (of + "/agents/admin.pem"), "--controller", "127.0.0.1:" + controller_ports_[of]});
  return run_command(words);
}

}  // namespace edge::test
