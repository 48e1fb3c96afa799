// What a running proxy tells of its backends, asked over /metrics and /debug/endpoints: each number moves by what it
// counts, and by nothing else.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/proxy_process.h"
#include "tests/support/connection.h"
#include "tests/support/lasting_port.h"

namespace edge::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A backend `NAME` with one endpoint on `port`, and a route to it by the path `/NAME`.
std::string backend(const std::string& name, int port, const std::string& spec) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: " + name +
         "}\nspec: {serviceRef: {name: " + name + ", port: 80}, " + spec +
         "}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: " + name +
         "}\nspec: {ports: [{name: http, port: 80}]}\n"
         "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " +
         name + "-1, labels: {kubernetes.io/service-name: " + name +
         "}}\naddressType: IPv4\nports: [{name: http, port: " + std::to_string(port) +
         "}]\nendpoints: [{addresses: [127.0.0.1]}]\n"
         "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: " +
         name + "}\nspec:\n  parentRefs: [{name: gw}]\n  rules:\n  - matches: [{path: {type: Exact, value: /" + name +
         "}}]\n    backendRef: {name: " + name + "}\n";
}

class Backends : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(dir_.path() / "config");
    dir_.put("config/all.yaml",
             base_config(good_.port) +
                 backend("checked", test::lasting_port(),
                         "healthCheck: {protocol: TCP, interval: 100ms, timeout: 50ms, unhealthyThreshold: 1}") +
                 backend("ejected", dead_,
                         "passiveHealthCheck: {consecutiveErrors: 2, baseEjectionTime: 1h, maxEjectionPercent: 100}") +
                 backend("broken", dead_, "circuitBreaker: {consecutiveErrors: 2, baseEjectionTime: 1h}") +
                 backend("retried", dead_,
                         "retryPolicy: {retryOn: [connect-failure], numRetries: 2, retryBackOff: {baseInterval: 1ms, "
                         "maxInterval: 1ms}}") +
                 backend("full", slow_.port, "connectionLimits: {maxConnections: 1, maxPendingRequests: 1}"));
    proxy_ = std::make_unique<ProxyProcess>(
        std::vector<std::string>{"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data"});
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }

  std::string metric(const std::string& name, const std::string& backend) const {
    const std::string text = curl(proxy_->metrics_port, "/metrics");
    const std::string sample = "\n" + name + "{backend=\"default/" + backend + "\"} ";
    const std::size_t at = text.find(sample);
    if (at == std::string::npos) return "none";
    return text.substr(at + sample.size(), text.find('\n', at + 1) - at - sample.size());
  }
  /// `edge_endpoint_healthy` of the one endpoint.
  std::string healthy(const std::string& backend) const {
    const std::string text = curl(proxy_->metrics_port, "/metrics");
    const std::size_t at = text.find("\nedge_endpoint_healthy{backend=\"default/" + backend + "\"");
    return at == std::string::npos ? "none" : text.substr(text.find("} ", at) + 2, 1);
  }
  /// What /debug/endpoints says of one backend.
  std::string document(const std::string& backend) const {
    const std::string text = curl(proxy_->health_port, "/debug/endpoints");
    const std::size_t at = text.find("\"name\": \"" + backend + "\"");
    if (at == std::string::npos) return text;
    return text.substr(at, text.find("\"namespace\"", at) - at);
  }
  std::string get(const std::string& path) const { return curl(proxy_->port, path).substr(0, 3); }

  /// Asks again until it is so; a fault shows as what was said last.
  template <typename Ask>
  static std::string until(const std::string& wanted, Ask ask) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    std::string said = ask();
    while (said != wanted && std::chrono::steady_clock::now() < end) said = ask();
    return said;
  }

  TempDir dir_;
  Backend good_{"one"};
  ListeningSocket slow_;
  int dead_ = test::lasting_port();
  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(Backends, ChecksAreCountedAndTheirVerdictIsTold) {
  EXPECT_EQ(until("0", [&] { return healthy("checked"); }), "0");
  EXPECT_EQ(until("0", [&] { return metric("edge_health_check_success_total", "checked"); }), "0");
  // The verdict is of the first check.
  EXPECT_NE(metric("edge_health_check_failure_total", "checked"), "0");
  EXPECT_NE(metric("edge_health_check_total", "checked"), "0");
  EXPECT_THAT(document("checked"), AllOf(HasSubstr("\"health\": \"Unhealthy\""), HasSubstr("\"unhealthyCount\": 1"),
                                         HasSubstr("\"lastError\": \""), HasSubstr("\"lastCheck\": \"")));
  EXPECT_EQ(get("/checked"), "503");
}

TEST_F(Backends, EjectionsAreCounted) {
  EXPECT_EQ(until("0", [&] { return metric("edge_ejections_total", "ejected"); }), "0");
  EXPECT_EQ(until("1", [&] { return healthy("ejected"); }), "1");
  EXPECT_EQ(get("/ejected"), "502");
  EXPECT_EQ(until("0", [&] { return metric("edge_ejections_total", "ejected"); }), "0");
  EXPECT_EQ(get("/ejected"), "502");
  EXPECT_EQ(until("1", [&] { return metric("edge_ejections_total", "ejected"); }), "1");
  EXPECT_EQ(until("0", [&] { return healthy("ejected"); }), "0");
  EXPECT_THAT(document("ejected"), AllOf(HasSubstr("\"ejectedUntil\": \""), HasSubstr("\"healthy\": false")));
  EXPECT_EQ(get("/ejected"), "503");
}

TEST_F(Backends, TheStateOfACircuitIsTold) {
  EXPECT_EQ(until("0", [&] { return metric("edge_circuit_breaker_state", "broken"); }), "0");
  EXPECT_EQ(get("/broken"), "502");
  EXPECT_EQ(get("/broken"), "502");
  EXPECT_EQ(until("2", [&] { return metric("edge_circuit_breaker_state", "broken"); }), "2");
  EXPECT_EQ(until("1", [&] { return metric("edge_circuit_breaker_opened_total", "broken"); }), "1");
  EXPECT_THAT(document("broken"), AllOf(HasSubstr("\"state\": \"Open\""), HasSubstr("\"openUntil\": \"")));
  EXPECT_EQ(get("/broken"), "503");
  EXPECT_EQ(until("1", [&] { return metric("edge_circuit_breaker_opened_total", "broken"); }), "1");
}

TEST_F(Backends, RetriesAreCounted) {
  EXPECT_EQ(until("0", [&] { return metric("edge_backend_retries_total", "retried"); }), "0");
  EXPECT_EQ(get("/retried"), "502");
  EXPECT_EQ(until("2", [&] { return metric("edge_backend_retries_total", "retried"); }), "2");
  EXPECT_EQ(until("0", [&] { return metric("edge_backend_retries_refused_total", "retried"); }), "0");
}

TEST_F(Backends, TheirPoolsAndQueuesAreTold) {
  const test::Deadline deadline{std::chrono::steady_clock::now() + std::chrono::seconds(120), nullptr};
  const auto ask = [&](test::Connection& connection) {
    return connection.send("GET /full HTTP/1.1\r\nHost: shop.example\r\n\r\n").ok();
  };
  const auto port = static_cast<std::uint16_t>(proxy_->port);
  EXPECT_EQ(until("0", [&] { return metric("edge_backend_connections", "full"); }), "0");
  test::Connection first(*test::Connection::dial(port), deadline);
  ASSERT_TRUE(ask(first));
  test::Connection served(slow_.accept_one(), deadline);
  EXPECT_EQ(until("1", [&] { return metric("edge_backend_connections", "full"); }), "1");
  EXPECT_EQ(until("0", [&] { return metric("edge_backend_pending_requests", "full"); }), "0");
  test::Connection second(*test::Connection::dial(port), deadline);
  ASSERT_TRUE(ask(second));
  EXPECT_EQ(until("1", [&] { return metric("edge_backend_pending_requests", "full"); }), "1");
  EXPECT_THAT(document("full"), AllOf(HasSubstr("\"connections\": 1"), HasSubstr("\"pendingRequests\": 1")));
  EXPECT_EQ(until("0", [&] { return metric("edge_backend_overflows_total", "full"); }), "0");
  EXPECT_EQ(get("/full"), "503");
  EXPECT_EQ(until("1", [&] { return metric("edge_backend_overflows_total", "full"); }), "1");
  // Both are answered, over the one connection.
  for (test::Connection* client : {&first, &second}) {
    ASSERT_TRUE(served.receive_head().ok());
    ASSERT_TRUE(served.send("HTTP/1.1 204 No Content\r\n\r\n").ok());
    EXPECT_TRUE(client->receive_head().ok());
  }
  EXPECT_EQ(until("0", [&] { return metric("edge_backend_pending_requests", "full"); }), "0");
  EXPECT_EQ(until("1", [&] { return metric("edge_backend_connections", "full"); }), "1");
}

}  // namespace
}  // namespace edge::test
