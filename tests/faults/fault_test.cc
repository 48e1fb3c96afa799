// Random faults on both sides of the proxy: resets, stalls, half closed connections, garbage, slow bytes. Whatever
// happens: nothing crashes, no connection is left over, no answer goes to another request, every request is answered
// or its connection ends, and the counters add up.
//
// With HTTP/2 or TLS the faults go through two proxies that speak it with one another, so that they meet its streams
// and its records on both sides.
//
// EDGE_FAULT_SEED repeats a run, EDGE_FAULT_SECONDS (8) bounds each test.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/faults/faulty_client.h"
#include "tests/faults/faulty_upstream.h"
#include "tests/faults/plan.h"
#include "tests/support/certificates.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kCaseTime(10);
constexpr seconds kShrinkTime(90);

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What two proxies speak with one another; kNothing: there is one.
enum class Between : std::uint8_t { kNothing, kHttp2, kTls, kHttp2OverTls };

bool encrypted(Between between) { return between == Between::kTls || between == Between::kHttp2OverTls; }

std::string resource(const std::string& kind, const std::string& name, const std::string& rest) {
  return std::string("---\napiVersion: ") + (kind == "Secret" ? "v1" : "edgeproxy.io/v1alpha1") + "\nkind: " + kind +
         "\nmetadata: {name: " + name + ", namespace: default}\n" + rest;
}

/// Text of several lines as a value in YAML.
std::string block(const std::string& text) {
  std::string out = "|\n    ";
  for (const char c : text) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return out + "\n";
}

constexpr const char* kRoute = "@route b limits: {requestTimeout: 700ms, idleTimeout: 300ms}\n";

/// Of the proxy that clients reach.
std::string outer_config(Between between, const TestAuthority& authority) {
  if (between == Between::kNothing) return std::string("@gateway\n@backend b\n") + kRoute;
  if (between == Between::kHttp2) return std::string("@gateway\n@backend b protocol: H2C\n") + kRoute;
  const std::string protocol = between == Between::kTls ? "" : "  protocol: H2\n";
  return "@gateway\n" +
         resource("ProxyBackend", "b",
                  "spec:\n  serviceRef: {name: b, port: 80}\n" + protocol +
                      "  tls: {hostname: inner.example, caCertificateRefs: [{name: authority}]}\n") +
         "@service b\n" + kRoute +
         resource("Secret", "authority", "type: Opaque\nstringData:\n  ca.crt: " + block(authority.pem()));
}

/// Of the proxy behind it.
std::string inner_config(Between between, const TestAuthority& authority) {
  if (!encrypted(between)) return std::string("@gateway\n@backend b\n") + kRoute;
  const IssuedCertificate certificate = authority.issue("inner.example");
  return resource("ProxyGateway", "edge",
                  "spec:\n  listeners:\n    - {name: https, port: 8443, protocol: HTTPS, tls: {secretRef: {name: "
                  "certificate}}}\n") +
         "@backend b\n" + kRoute +
         resource("Secret", "certificate",
                  "type: kubernetes.io/tls\nstringData:\n  tls.crt: " + block(certificate.chain) +
                      "  tls.key: " + block(certificate.key));
}

/// A proxy of two threads with short patience.
class Proxy {
 public:
  Proxy(std::uint16_t backend_port, const std::string& config) {
    runtime::ServerOptions options;
    options.threads = 2;
    options.ephemeral_ports = true;
    options.head_timeout = milliseconds(300);
    options.keep_alive_timeout = milliseconds(500);
    auto server = runtime::Server::start(options);
    if (!server) throw std::runtime_error(server.error().text);
    server_ = std::move(*server);
    const auto compiled = compile_text("faults", expand_config(config, {{"b", backend_port}}));
    if (!compiled) throw std::runtime_error(compiled.error().text);
    server_->set_secrets(compiled->secrets);
    server_->set_endpoints(compiled->endpoints);
    if (Status status = server_->install(compiled->program); !status) throw std::runtime_error(status.error().text);
  }

  std::uint16_t port() const { return server_->addresses().at(0).port; }
  runtime::Server& server() { return *server_; }

 private:
  std::unique_ptr<runtime::Server> server_;
};

class Faults : public testing::TestWithParam<Between> {
 protected:
  void SetUp() override {
    upstream_ = std::make_unique<FaultyUpstream>();
    std::uint16_t port = upstream_->port();
    if (GetParam() != Between::kNothing) {
      inner_ = std::make_unique<Proxy>(port, inner_config(GetParam(), authority_));
      port = inner_->port();
    }
    outer_ = std::make_unique<Proxy>(port, outer_config(GetParam(), authority_));
  }

  /// Empty: all that was promised holds.
  std::string run(const Plan& plan) {
    const Deadline deadline{steady_clock::now() + kCaseTime, nullptr};
    std::vector<std::unique_ptr<FaultyClient>> clients;
    std::vector<std::string> failures(plan.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      requests_ += plan[i].size();
      clients.push_back(std::make_unique<FaultyClient>(outer_->port(), plan[i], deadline));
      threads.emplace_back([client = clients.back().get(), &failure = failures[i]] { failure = client->run(); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& failure : failures) {
      if (!failure.empty()) return failure;
    }
    if (std::string failure = upstream_->failure(); !failure.empty()) return failure;
    // Sessions end a moment after their clients.
    while (outer_->server().stats().connections_active != 0) {
      if (deadline.over()) return "connections are left over";
      std::this_thread::yield();
    }
    for (const auto& client : clients) {
      connections_ += client->connections();
      answers_ += client->answers();
    }
    return check_counters();
  }

  /// Of all cases so far: a connection that a client reset may be accepted, and counted, a moment later. Of connections
  /// there is no upper bound: a stranger on this machine may look who is behind a port.
  std::string check_counters() {
    const runtime::ServerStats stats = outer_->server().stats();
    std::uint64_t responses = 0;
    for (int i = 2; i <= 5; ++i) responses += stats.responses[i];
    if (stats.connections_accepted < connections_) return "fewer connections are counted than were answered";
    if (stats.requests > requests_) return "more requests are counted than there were";
    if (answers_ > responses) return "more answers came than are counted";
    // A head that is refused is answered, and no request; it ends its connection.
    if (responses > stats.requests + stats.connections_accepted) return "more answers are counted than there can be";
    const runtime::ServerStats inner = (inner_ != nullptr ? inner_ : outer_)->server().stats();
    if (upstream_->requests() > inner.upstream_connects + inner.upstream_reused) {
      return "more requests reached the backend than are counted";
    }
    return {};
  }

  void report(const Plan& plan, const std::string& failure, std::uint64_t seed) {
    Plan least = plan;
    std::string why = failure;
    const auto end = steady_clock::now() + kShrinkTime;
    for (bool shrunk = true; shrunk && steady_clock::now() < end;) {
      shrunk = false;
      for (const Plan& less : smaller(least)) {
        if (steady_clock::now() > end) break;
        const std::string again = run(less);
        if (again.empty()) continue;
        least = less;
        why = again;
        shrunk = true;
        break;
      }
    }
    FAIL() << why << "\nEDGE_FAULT_SEED=" << seed << "\n" << to_string(least);
  }

  const TestAuthority authority_;
  std::unique_ptr<FaultyUpstream> upstream_;
  std::unique_ptr<Proxy> inner_;
  std::unique_ptr<Proxy> outer_;
  // Of all cases.
  std::uint64_t connections_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t answers_ = 0;
};

TEST_P(Faults, BreakNothing) {
  const std::uint64_t seed = number("EDGE_FAULT_SEED", 1);
  const auto end = steady_clock::now() + seconds(number("EDGE_FAULT_SECONDS", 8));
  std::mt19937_64 random(seed);
  std::uint32_t next_id = 1;
  std::uint64_t cases = 0;
  for (; steady_clock::now() < end; ++cases) {
    const Plan plan = random_plan(random, next_id);
    const std::string failure = run(plan);
    if (!failure.empty()) return report(plan, failure, seed);
  }
  std::printf("%llu cases, %llu requests\n", static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(requests_));
  EXPECT_GT(upstream_->requests(), 0U);
  // Nothing keeps the proxies from ending.
  EXPECT_TRUE(outer_->server().drain(seconds(20)));
  if (inner_ != nullptr) {
    EXPECT_TRUE(inner_->server().drain(seconds(20)));
    EXPECT_EQ(inner_->server().stats().connections_active, 0U);
  }
}

std::string name_of(const testing::TestParamInfo<Between>& info) {
  constexpr const char* kNames[] = {"Http1", "Http2", "Tls", "Http2OverTls"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Over, Faults,
                         testing::Values(Between::kNothing, Between::kHttp2, Between::kTls, Between::kHttp2OverTls),
                         name_of);

}  // namespace
}  // namespace edge::test
