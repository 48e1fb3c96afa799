#include "tests/support/two_clusters.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include <gtest/gtest.h>
#include <poll.h>

#include "base/ip.h"
#include "program/cluster_traffic.h"
#include "program/values/secrets.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

/// Of the certificates' issue; what is listed begins before it.
constexpr std::uint64_t kIssued = 1'000;

std::unique_ptr<runtime::Server> server() {
  runtime::ServerOptions options;
  // All of it is on one thread, so that its connections can be counted.
  options.threads = 1;
  options.ephemeral_ports = true;
  auto started = runtime::Server::start(options);
  EXPECT_TRUE(started.ok());
  return started.ok() ? std::move(*started) : nullptr;
}

std::string exports(std::uint16_t port, const std::string& app_protocol) {
  const std::string spoken = app_protocol.empty() ? "" : ", appProtocol: " + app_protocol;
  return R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: clusters, namespace: default}
spec:
  clusters: {advertise: ["127.0.0.1:15443"]}
  listeners: [{name: clusters, port: 15443, protocol: HTTPS}]
---
apiVersion: multicluster.x-k8s.io/v1alpha1
kind: ServiceExport
metadata: {name: api, namespace: default}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: default}
spec: {ports: [{name: main, port: 80)" +
         spoken + R"(}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: api-1, namespace: default, labels: {kubernetes.io/service-name: api}}
addressType: IPv4
ports: [{name: main, port: )" +
         std::to_string(port) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n";
}

}  // namespace

bool becomes(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    ::poll(nullptr, 0, 5);
  }
  return true;
}

ByteServer::ByteServer(Serve serve) : serve_(std::move(serve)) {
  auto opened = net::listen_tcp(*parse_ip("127.0.0.1"), 0);
  EXPECT_TRUE(opened.ok());
  listener_ = std::move(*opened);
  port_ = net::local_address(listener_.get()).port;
  thread_ = std::thread([this] { run(); });
}

ByteServer::~ByteServer() {
  stopped_ = true;
  thread_.join();
  for (std::thread& one : served_) one.join();
}

void ByteServer::run() {
  while (!stopped_) {
    pollfd wait{listener_.get(), POLLIN, 0};
    if (::poll(&wait, 1, 20) != 1) continue;
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) continue;
    ++taken_;
    ++open_;
    served_.emplace_back([this, fd] {
      {
        Connection connection(fd, {std::chrono::steady_clock::now() + std::chrono::minutes(1), &stopped_});
        serve_(connection);
      }
      --open_;
    });
  }
}

TwoClusters::TwoClusters(std::uint16_t port, const std::string& app_protocol)
    : of_hub_(authority_.issue({.uris = {program::cluster_uri("hub")}, .issued_milliseconds = kIssued})),
      of_berlin_(authority_.issue({.uris = {program::cluster_uri("berlin")}, .issued_milliseconds = kIssued})),
      hub_(server()),
      berlin_(server()) {
  const auto compiled = compile_text("berlin", exports(port, app_protocol));
  EXPECT_TRUE(compiled.ok()) << compiled.error().text;
  berlin_->set_endpoints(compiled->endpoints);
  believe(*berlin_, {"hub", "berlin"});
  EXPECT_TRUE(berlin_->install(compiled->program).ok());
  gateway_ = berlin_->addresses().at(0).port;
  believe(*hub_, {"hub", "berlin"});
}

TwoClusters::~TwoClusters() = default;

void TwoClusters::serve(std::string config) {
  const std::string place = "${berlin}";
  for (auto at = config.find(place); at != std::string::npos; at = config.find(place)) {
    config.replace(at, place.size(), "127.0.0.1:" + std::to_string(gateway_));
  }
  const auto compiled = compile_text("hub", config);
  ASSERT_TRUE(compiled.ok()) << compiled.error().text << config;
  hub_->set_endpoints(compiled->endpoints);
  ASSERT_TRUE(hub_->install(compiled->program).ok());
}

void TwoClusters::believe(runtime::Server& who, const std::vector<std::string>& names) {
  give_secrets(who, &who == hub_.get() ? of_hub_ : of_berlin_, names);
}

void TwoClusters::give_secrets(runtime::Server& who, const IssuedCertificate& own,
                               const std::vector<std::string>& names) {
  std::string peers;
  for (const std::string& name : names) peers += program::cluster_uri(name) + " 0\n";
  const auto value = [](std::string_view key, const std::string& text) {
    return program::SecretValue{std::string(key), std::make_shared<const std::string>(text)};
  };
  program::NamedSecret identity{std::string(program::kClusterSecretSpace),
                                std::string(program::kClusterSecretName),
                                {
                                    value(program::kClusterAuthorityKey, authority_.pem()),
                                    value(program::kClusterPeersKey, peers),
                                    value(program::kCertificateKey, own.chain),
                                    value(program::kPrivateKeyKey, own.key),
                                }};
  std::ranges::sort(identity.values, {}, &program::SecretValue::key);
  who.set_secrets({{std::move(identity)}});
}

std::uint16_t TwoClusters::port(const std::string& listener) const {
  for (const runtime::BoundAddress& one : hub_->addresses()) {
    if (one.listener == listener) return one.port;
  }
  ADD_FAILURE() << "no listener " << listener;
  return 0;
}

}  // namespace edge::test
