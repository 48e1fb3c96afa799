// From a resource in the API to a request served: the API, edge-controller and edge-agent, each on its own, and what
// becomes of the others when one of them goes. The API is the product's own, or that of a cluster
// (tests/e2e/test_api.h).
#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "controller/kube/blocking_client.h"
#include "standalone/gateway_api.h"
#include "tests/e2e/process.h"
#include "tests/e2e/test_api.h"
#include "tests/kube/fake_api.h"
#include "tests/support/lasting_port.h"

namespace edge::test {
namespace {

using kube::PatchType;

constexpr char kGateway[] = R"({"apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyGateway",
  "metadata":{"name":"edge","namespace":"default"},
  "spec":{"listeners":[{"name":"http","port":8080,"protocol":"HTTP"}]}})";
constexpr char kService[] = R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"shop","namespace":"default"},
  "spec":{"ports":[{"name":"http","port":80}]}})";
constexpr char kBackend[] = R"({"apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyBackend",
  "metadata":{"name":"shop","namespace":"default"},"spec":{"serviceRef":{"name":"shop","port":80}}})";

std::string slice(const std::string& address, int port) {
  return R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"shop-1","namespace":"default",
    "labels":{"kubernetes.io/service-name":"shop"}},"addressType":"IPv4","ports":[{"name":"http","port":)" +
         std::to_string(port) + R"(}],"endpoints":[{"addresses":[")" + address + R"("]}]})";
}

std::string route(const std::string& name, const std::string& match) {
  return R"({"apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyRoute","metadata":{"name":")" + name +
         R"(","namespace":"default"},"spec":{"parentRefs":[{"name":"edge"}],"hostnames":[")" + name +
         R"(.example"],"rules":[{"matches":[)" + match + R"(],"backendRefs":[{"name":"shop"}]}]}})";
}
constexpr char kAnyPath[] = R"({"path":{"type":"PathPrefix","value":"/"}})";

class ClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cluster.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    api_ = std::make_unique<TestApi>(directory_);
    upstream_ =
        std::make_unique<FakeApi>([](Exchange& exchange) { exchange.json(200, "\"upstream\""); }, api_->node_address());
    start_api();
    start_controller();
    apply(kGateway);
    apply(kService);
    apply(kBackend);
    apply(slice(api_->node_address(), upstream_->port()));
    apply(route("first", kAnyPath));
    start_agent();
    ASSERT_TRUE(serves("first"));
  }
  void TearDown() override {
    if (HasFailure()) std::cout << controller_->log() << "\n" << agent_->log() << "\n";
    agent_.reset();
    controller_.reset();
    if (api_->is_cluster()) clean();
    client_.reset();
    api_.reset();
    std::filesystem::remove_all(directory_);
  }

  void start_api() {
    ASSERT_EQ(api_->start(), "");
    kube::ConfigSources sources;
    sources.kubeconfig = api_->kubeconfig();
    auto config = kube::Config::resolve(sources);
    ASSERT_TRUE(config.ok()) << config.error().text;
    if (!api_->is_cluster()) {
      const Status installed = standalone::install_gateway_api(*config, nullptr);
      ASSERT_TRUE(installed.ok()) << installed.error().text;
    }
    auto made = kube::BlockingClient::make(*config);
    ASSERT_TRUE(made.ok()) << made.error().text;
    client_ = std::move(*made);
  }
  void start_controller() {
    controller_ = std::make_unique<Process>(
        std::vector<std::string>{EDGE_BIN "/edge-controller", "--data-dir", directory_ + "/controller", "--kubeconfig",
                                 api_->kubeconfig(), "--agents-listen", "127.0.0.1:" + std::to_string(controller_port_),
                                 "--metrics-listen", "off", "--otlp-listen", "off", "--traces-listen", "off"},
        directory_ + "/controller.log");
    ASSERT_NE(controller_->after("agents on port "), "") << controller_->log();
  }
  void start_agent() {
    std::vector<std::string> words = {EDGE_BIN "/edge-agent",
                                      "--controller",
                                      "127.0.0.1:" + std::to_string(controller_port_),
                                      "--name",
                                      "one",
                                      "--token-file",
                                      directory_ + "/controller/agents/join",
                                      "--data-dir",
                                      directory_ + "/agent",
                                      "--metrics-listen",
                                      "off",
                                      "--health-listen",
                                      "off",
                                      "--ephemeral-ports",
                                      "--threads",
                                      "1"};
    // The upstream server has an address of this node.
    if (api_->is_cluster()) words.insert(words.end(), {"--deny-calls-to", "none"});
    agent_ = std::make_unique<Process>(std::move(words), directory_ + "/agent.log");
    const std::string bound = agent_->after("listener http on ");
    ASSERT_NE(bound, "") << agent_->log();
    port_ = std::atoi(bound.c_str() + bound.rfind(':') + 1);
  }
  /// As `kubectl apply --server-side`.
  void apply(const std::string& object) {
    const Result<kube::Object> read = kube::read_object(object);
    ASSERT_TRUE(read.ok());
    const std::string& text = read->text;
    const auto said = [&](const std::string& key) {
      const std::size_t begin = text.find("\"" + key + "\":\"") + key.size() + 4;
      return text.substr(begin, text.find('"', begin) - begin);
    };
    const auto found = client_->find_kind(said("apiVersion"), said("kind"));
    ASSERT_TRUE(found.resource.has_value()) << found.failure.text();
    const auto reply = client_->patch(*found.resource, space_of(*found.resource), read->name, PatchType::kApply, text,
                                      {.field_manager = "test"});
    ASSERT_TRUE(reply.ok()) << reply.failure.text();
    applied_.emplace(found.resource->qualified(), read->name);
  }
  /// Another test finds none of this one's objects.
  void clean() {
    for (const auto& [kind, name] : applied_) {
      const auto found = client_->find(kind);
      if (found.resource) client_->remove(*found.resource, space_of(*found.resource), name);
    }
  }
  static std::string space_of(const kube::Resource& resource) { return resource.namespaced ? "default" : ""; }
  bool until(const std::function<bool()>& holds) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  Answered ask(const std::string& name) const { return fetch(port_, name + ".example", "/"); }
  /// 404, and then 200: nothing else on the way.
  bool serves(const std::string& name) {
    int status = 0;
    const bool ended = until([&] {
      status = ask(name).status;
      return status != 404;
    });
    EXPECT_EQ(status, 200) << name;
    return ended && status == 200;
  }
  /// What the agent has on disk knows the route; it is written after the program has begun to serve.
  bool kept(const std::string& name) const {
    return until([&] {
      std::ifstream in(directory_ + "/agent/program.edgeprog", std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      return bytes.find(name + ".example") != std::string::npos;
    });
  }
  /// An object as the API has it; empty: there is none.
  std::string text_of(const std::string& name, const std::string& plural = "proxyroutes") const {
    const auto found = client_->find(plural);
    return found.resource ? client_->get(*found.resource, "default", name).object.text : "";
  }
  bool says(const std::string& name, const std::string& part, const std::string& plural = "proxyroutes") const {
    return until([&] { return text_of(name, plural).find(part) != std::string::npos; });
  }
  void remove(const std::string& name) const {
    EXPECT_TRUE(client_->remove(*client_->find("proxyroutes").resource, "default", name).ok());
  }

  std::string directory_;
  std::unique_ptr<TestApi> api_;
  std::unique_ptr<FakeApi> upstream_;
  std::set<std::pair<std::string, std::string>> applied_;  ///< kinds and names
  std::unique_ptr<kube::BlockingClient> client_;
  std::unique_ptr<Process> controller_;
  std::unique_ptr<Process> agent_;
  const std::uint16_t controller_port_ = test::lasting_port();
  int port_ = 0;
};

TEST_F(ClusterTest, ServesWhatIsAppliedAndNoLongerWhatIsDeleted) {
  EXPECT_EQ(ask("first").body, "\"upstream\"");
  apply(route("second", kAnyPath));
  EXPECT_TRUE(serves("second"));
  EXPECT_TRUE(says("second", R"("reason":"Programmed","status":"True")"));
  EXPECT_EQ(ask("first").status, 200);
  remove("second");
  EXPECT_TRUE(until([&] { return ask("second").status == 404; }));
  EXPECT_EQ(controller_->stop(), 0);
  EXPECT_EQ(agent_->stop(), 0);
}

/// The others are served, it says why it is not, and mended it is served.
TEST_F(ClusterTest, KeepsAFaultToItsRoute) {
  apply(route("second", R"({"path":{"type":"RegularExpression","value":"^/(unclosed"}})"));
  EXPECT_TRUE(says("second", R"("status":"False","type":"Accepted")"));
  apply(route("third", kAnyPath));
  EXPECT_TRUE(serves("third"));
  EXPECT_EQ(ask("second").status, 404);
  apply(route("second", kAnyPath));
  EXPECT_TRUE(serves("second"));
  EXPECT_TRUE(says("second", R"("status":"True","type":"Accepted")"));
}

TEST_F(ClusterTest, GoesOnWithoutTheApi) {
  apply(route("second", kAnyPath));
  ASSERT_TRUE(serves("second"));
  client_.reset();
  api_->stop();
  EXPECT_EQ(ask("second").status, 200);
  EXPECT_TRUE(controller_->running());
  start_api();
  EXPECT_EQ(ask("first").status, 200);
  apply(route("third", kAnyPath));
  EXPECT_TRUE(serves("third"));
}

TEST_F(ClusterTest, ServesOnWithoutTheController) {
  ASSERT_TRUE(kept("first"));
  controller_->kill();
  EXPECT_EQ(ask("first").status, 200);
  // Nobody compiles this now.
  apply(route("second", kAnyPath));
  EXPECT_EQ(ask("second").status, 404);
  // The agent starts again with nobody to ask: it has kept what it ran.
  agent_->kill();
  start_agent();
  EXPECT_TRUE(serves("first"));
  start_controller();
  EXPECT_TRUE(serves("second"));
  EXPECT_EQ(ask("first").status, 200);
  EXPECT_TRUE(says("second", R"("reason":"Programmed","status":"True")"));
}

TEST_F(ClusterTest, FollowsEndpointsWithoutAnotherProgram) {
  ASSERT_TRUE(says("first", R"("reason":"Programmed","status":"True")"));
  FakeApi other([](Exchange& exchange) { exchange.json(200, "\"other\""); }, api_->node_address());
  apply(slice(api_->node_address(), other.port()));
  EXPECT_TRUE(until([&] { return ask("first").body == "\"other\""; }));
}

/// Answers each datagram with itself, until it goes.
class DatagramEcho {
 public:
  explicit DatagramEcho(const std::string& address) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in bound{};
    bound.sin_family = AF_INET;
    ::inet_pton(AF_INET, address.c_str(), &bound.sin_addr);
    socklen_t size = sizeof bound;
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&bound), size), 0);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
    port_ = ntohs(bound.sin_port);
    thread_ = std::thread([this] {
      char text[64];
      sockaddr_in peer{};
      for (;;) {
        socklen_t length = sizeof peer;
        const ssize_t got = ::recvfrom(fd_, text, sizeof text, 0, reinterpret_cast<sockaddr*>(&peer), &length);
        if (got <= 0) return;
        ::sendto(fd_, text, static_cast<std::size_t>(got), 0, reinterpret_cast<sockaddr*>(&peer), length);
      }
    });
  }
  ~DatagramEcho() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  int port() const { return port_; }

 private:
  int fd_;
  int port_ = 0;
  std::thread thread_;
};

/// What a client is answered that asks until it is; empty: nothing within a minute.
std::string echoed(int port) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to);
  std::string text(64, '\0');
  ssize_t got = -1;
  for (int tries = 0; tries < 300 && got < 0; ++tries) {
    ::send(fd, "hello", 5, 0);
    pollfd wait{fd, POLLIN, 0};
    if (::poll(&wait, 1, 200) == 1) got = ::recv(fd, text.data(), text.size(), 0);
  }
  ::close(fd);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

std::string udp_route(const std::string& name, const std::string& section, const std::string& service) {
  return R"({"apiVersion":"gateway.networking.k8s.io/v1alpha2","kind":"UDPRoute","metadata":{"name":")" + name +
         R"(","namespace":"default"},"spec":{"parentRefs":[{"group":"edgeproxy.io","kind":"ProxyGateway","name":"datagrams",)"
         R"("sectionName":")" +
         section + R"("}],"rules":[{"backendRefs":[{"name":")" + service + R"(","port":53}]}]}})";
}

/// A UDPRoute is served, and tells of each parent what became of it; mended it says so.
TEST_F(ClusterTest, TellsWhatBecomesOfUdpRoutes) {
  if (!client_->find("udproutes").resource) GTEST_SKIP() << "the API has no UDPRoute";
  const DatagramEcho echo(api_->node_address());
  apply(R"({"apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyGateway","metadata":{"name":"datagrams",
    "namespace":"default"},"spec":{"listeners":[{"name":"names","port":5300,"protocol":"UDP"}]}})");
  apply(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"names","namespace":"default"},
    "spec":{"ports":[{"name":"dns","port":53,"protocol":"UDP"}]}})");
  apply(R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"names-1",
    "namespace":"default","labels":{"kubernetes.io/service-name":"names"}},"addressType":"IPv4",
    "ports":[{"name":"dns","protocol":"UDP","port":)" +
        std::to_string(echo.port()) + R"(}],"endpoints":[{"addresses":[")" + api_->node_address() + R"("]}]})");
  apply(udp_route("served", "names", "names"));
  const std::string bound = agent_->after("listener names on ");
  ASSERT_NE(bound, "") << agent_->log();
  EXPECT_EQ(echoed(std::atoi(bound.c_str() + bound.rfind(':') + 1)), "hello");
  EXPECT_TRUE(says("served", R"("reason":"Accepted","status":"True","type":"Accepted")", "udproutes"));
  EXPECT_TRUE(says("served", R"("reason":"ResolvedRefs","status":"True","type":"ResolvedRefs")", "udproutes"));

  apply(udp_route("elsewhere", "other", "names"));
  EXPECT_TRUE(says("elsewhere", R"("reason":"NoMatchingParent","status":"False","type":"Accepted")", "udproutes"));
  apply(udp_route("elsewhere", "names", "lost"));
  EXPECT_TRUE(says("elsewhere", R"("reason":"BackendNotFound","status":"False","type":"ResolvedRefs")", "udproutes"));
  EXPECT_TRUE(says("elsewhere", R"("reason":"Accepted","status":"True","type":"Accepted")", "udproutes"));
  apply(udp_route("elsewhere", "names", "names"));
  EXPECT_TRUE(says("elsewhere", R"("reason":"ResolvedRefs","status":"True","type":"ResolvedRefs")", "udproutes"));
}

/// A Service with what the Gateway wants written on it, and its address as endpoint; none that it asks for no more.
TEST_F(ClusterTest, MakesTheServiceThatAGatewayAsksFor) {
  const auto gateway = [](const std::string& more, int port) {
    return R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway",
      "metadata":{"name":"asks","namespace":"default"},
      "spec":{"gatewayClassName":"e2e","addresses":[{"type":"IPAddress","value":"10.244.9.77"}],)" +
           more + R"("listeners":[{"name":"http","protocol":"HTTP","port":)" + std::to_string(port) + "}]}}";
  };
  apply(R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"GatewayClass","metadata":{"name":"e2e"},
    "spec":{"controllerName":"edgeproxy.io/proxy"}})");
  apply(gateway(R"("infrastructure":{"labels":{"team":"shop"},"annotations":{"example.com/note":"n"}},)", 8001));
  EXPECT_TRUE(says("asks-e2e", R"("team":"shop")", "services"));
  EXPECT_THAT(text_of("asks-e2e", "services"),
              testing::AllOf(testing::HasSubstr(R"("gateway.networking.k8s.io/gateway-name":"asks")"),
                             testing::HasSubstr(R"("example.com/note":"n")"), testing::HasSubstr(R"("port":8001)")));
  EXPECT_TRUE(says("asks-e2e-ipv4", R"("10.244.9.77")", "endpointslices"));
  apply(gateway(R"("infrastructure":{"labels":{"tier":"front"}},)", 8002));
  EXPECT_TRUE(says("asks-e2e", R"("tier":"front")", "services"));
  EXPECT_TRUE(says("asks-e2e", R"("port":8002)", "services"));
  EXPECT_THAT(text_of("asks-e2e", "services"), testing::Not(testing::HasSubstr(R"("team":"shop")")));
  EXPECT_TRUE(says("asks-e2e-ipv4", R"("port":8002)", "endpointslices"));
  // What stands in the Service of somebody else is his.
  apply(R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"taken-e2e","namespace":"default"},
    "spec":{"ports":[{"name":"a","port":1}]}})");
  apply(R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway",
    "metadata":{"name":"taken","namespace":"default"},"spec":{"gatewayClassName":"e2e",
    "infrastructure":{"labels":{"team":"shop"}},"listeners":[{"name":"http","protocol":"HTTP","port":8003}]}})");
  EXPECT_NE(controller_->after("Service default/taken-e2e is somebody else's"), "");
  EXPECT_THAT(text_of("taken-e2e", "services"), testing::Not(testing::HasSubstr("team")));
  apply(gateway("", 8002));
  EXPECT_TRUE(until([&] { return text_of("asks-e2e", "services").empty(); }));
  EXPECT_TRUE(until([&] { return text_of("asks-e2e-ipv4", "endpointslices").empty(); }));
}

/// Killed in the middle of changes, again and again: what was acknowledged is served in the end.
TEST_F(ClusterTest, LosesNothingWhenTheControllerIsKilled) {
  for (int i = 0; i < 6; ++i) {
    apply(route("r" + std::to_string(i), kAnyPath));
    controller_->kill();
    apply(route("s" + std::to_string(i), kAnyPath));
    EXPECT_EQ(ask("first").status, 200);
    start_controller();
  }
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(serves("r" + std::to_string(i))) << i;
    EXPECT_TRUE(serves("s" + std::to_string(i))) << i;
  }
}

}  // namespace
}  // namespace edge::test
