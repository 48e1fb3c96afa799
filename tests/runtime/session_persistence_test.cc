// Session persistence over real sockets: a client stays with its endpoint through whatever changes beside it, gets
// another one when that is gone, and nobody chooses his own.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/ip.h"
#include "tests/support/connection.h"
#include "tests/support/proxy.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

constexpr const char* kConfig = R"(@gateway
@backend app
@backend next
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: r, namespace: default}
spec:
  parentRefs: [{name: edge}]
  rules:
    - matches: [{path: {value: /by-header}}]
      sessionPersistence: {type: Header, sessionName: X-Session}
      backendRef: {name: app}
    - sessionPersistence: {sessionName: sticky}
      backendRefs: [{name: app, weight: @WEIGHT}, {name: next, weight: 1}]
)";

struct Answer {
  std::string endpoint;
  std::string cookie;  ///< `name=value` of the Set-Cookie; empty: none
  std::string session;
};

class SessionPersistence : public testing::Test {
 protected:
  SessionPersistence() : stage_(std::chrono::seconds(60)) {
    for (const char* const name : {"a", "b", "c"}) {
      upstreams_[name] = std::make_unique<Upstream>(stage_, name, Upstream::Kind::kServe);
      upstreams_[name]->start({});
    }
    start(std::string(32, 'k'));
  }
  ~SessionPersistence() override {
    server_.reset();
    stage_.abort();
    for (auto& [name, upstream] : upstreams_) upstream->join();
  }

  /// As after a restart: nothing is left but what travels beside the program.
  void start(const std::string& key) {
    server_.reset();
    runtime::ServerOptions options;
    options.threads = 2;
    options.ephemeral_ports = true;
    server_ = runtime::Server::start(options).value();
    secrets_.secrets = {{std::string(program::kSessionSecretSpace),
                         std::string(program::kSessionSecretName),
                         {{std::string(program::kSessionSecretKey), std::make_shared<const std::string>(key)}}}};
    server_->set_secrets(secrets_);
    install("9");
  }

  void install(const std::string& weight) {
    std::string config = kConfig;
    config.replace(config.find("@WEIGHT"), 7, weight);
    auto compiled = compile_text(
        "sessions", expand_config(config, {{"app", upstreams_["a"]->port()}, {"next", upstreams_["c"]->port()}}));
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    endpoints_ = compiled->endpoints;
    give({"a", "b"});
    ASSERT_TRUE(server_->install(compiled->program).ok());
  }

  /// Endpoints of the backend `app`.
  void give(const std::vector<std::string>& names) {
    for (program::BackendEndpoints& backend : endpoints_.backends) {
      if (backend.name != "app") continue;
      backend.endpoints.clear();
      for (const std::string& name : names) {
        program::Endpoint endpoint;
        endpoint.address = *parse_ip("127.0.0.1");
        endpoint.port = upstreams_[name]->port();
        backend.endpoints.push_back(endpoint);
      }
      std::ranges::sort(backend.endpoints, {}, &program::Endpoint::port);
    }
    server_->set_endpoints(endpoints_);
  }

  Answer get(const std::string& fields = {}, const std::string& path = "/") {
    Answer answer;
    Connection client(*Connection::dial(server_->addresses().front().port), stage_.deadline());
    EXPECT_TRUE(client.send("GET " + path + " HTTP/1.1\r\nHost: example.com\r\n" + fields + "\r\n").ok());
    const auto head = client.receive_head();
    if (!head.ok()) {
      ADD_FAILURE() << head.error().text;
      return answer;
    }
    EXPECT_TRUE(head->start_line.starts_with("HTTP/1.1 200 ")) << head->start_line;
    const auto cookies = head->values("Set-Cookie");
    EXPECT_LE(cookies.size(), 1u);
    if (!cookies.empty()) answer.cookie = cookies[0].substr(0, cookies[0].find(';'));
    if (!head->values("X-Session").empty()) answer.session = head->values("X-Session")[0];
    const auto body = client.receive_body(*head);
    if (body.ok()) answer.endpoint = *body;
    return answer;
  }
  static std::string with(const std::string& cookie) { return "Cookie: other=1; " + cookie + "\r\n"; }

  void expect_stays(const Answer& first) {
    for (int i = 0; i < 12; ++i) {
      const Answer next = get(with(first.cookie));
      EXPECT_EQ(next.endpoint, first.endpoint);
      EXPECT_EQ(next.cookie, "") << "the client has it";
    }
  }
  /// A session with that endpoint.
  Answer begin_with(const std::string& endpoint) {
    for (int i = 0; i < 200; ++i) {
      const Answer answer = get();
      EXPECT_TRUE(answer.cookie.starts_with("sticky=")) << answer.cookie;
      if (answer.endpoint == endpoint) return answer;
    }
    ADD_FAILURE() << "no request went to " << endpoint;
    return {};
  }

  Stage stage_;
  std::map<std::string, std::unique_ptr<Upstream>> upstreams_;
  std::unique_ptr<runtime::Server> server_;
  program::SecretSet secrets_;
  program::EndpointSet endpoints_;
};

TEST_F(SessionPersistence, AClientStaysThroughSwapsRestartsAndOthersChanges) {
  for (const char* const endpoint : {"a", "b", "c"}) {
    const Answer first = begin_with(endpoint);
    EXPECT_EQ(first.cookie.find("127.0.0.1"), std::string::npos);
    expect_stays(first);
    install("5");
    expect_stays(first);
    install("9");
    if (std::string(endpoint) != "c") {
      give({endpoint});
      expect_stays(first);
      give({"a", "b"});
      expect_stays(first);
    }
    start(std::string(32, 'k'));
    expect_stays(first);
  }
}

TEST_F(SessionPersistence, AnEndpointThatIsGoneIsReplacedByANewSession) {
  const Answer first = begin_with("a");
  give({"b"});
  const Answer moved = get(with(first.cookie));
  EXPECT_EQ(moved.endpoint, "b") << "of the same backend";
  ASSERT_NE(moved.cookie, "");
  EXPECT_NE(moved.cookie, first.cookie);
  give({"a", "b"});
  expect_stays(moved);
}

TEST_F(SessionPersistence, ABackendWithoutWeightKeepsItsClients) {
  const Answer first = begin_with("a");
  install("0");
  expect_stays(first);
  EXPECT_EQ(get().endpoint, "c");
}

TEST_F(SessionPersistence, ACanaryGoesWhereItIsSent) {
  const Answer first = begin_with("a");
  EXPECT_EQ(get(with(first.cookie) + "X-Canary: true\r\n").endpoint, "c");
}

TEST_F(SessionPersistence, NobodyChoosesHisEndpoint) {
  const Answer first = begin_with("a");
  std::string forged = first.cookie;
  forged[forged.size() - 5] = forged[forged.size() - 5] == 'A' ? 'B' : 'A';
  for (const std::string& value : {forged, std::string("sticky=127.0.0.1:22"), std::string("sticky=")}) {
    EXPECT_NE(get(with(value)).cookie, "") << "a new session begins";
  }
  // Of a key that is no longer ours.
  start(std::string(32, 'x'));
  EXPECT_NE(get(with(first.cookie)).cookie, "");
}

TEST_F(SessionPersistence, WithoutAKeyThereAreNoSessions) {
  server_->set_secrets({});
  EXPECT_EQ(get().cookie, "");
}

TEST_F(SessionPersistence, AHeaderDoesAsWell) {
  const Answer first = get({}, "/by-header");
  ASSERT_NE(first.session, "");
  EXPECT_EQ(first.cookie, "");
  for (int i = 0; i < 12; ++i) {
    const Answer next = get("X-Session: " + first.session + "\r\n", "/by-header");
    EXPECT_EQ(next.endpoint, first.endpoint);
    EXPECT_EQ(next.session, "");
  }
}

}  // namespace
}  // namespace edge::test
