// Backends that speak HTTP/2. The same talks with either protocol on both sides of the proxy; behind the one under test
// stands a second proxy that turns HTTP/2 into the text that scripts speak. And nghttpd, which shares no code with us.
#include <netinet/in.h>
#include <sys/socket.h>

#include <sstream>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/hash.h"
#include "tests/cli/process.h"
#include "tests/support/case_file.h"
#include "tests/support/certificates.h"
#include "tests/support/connection.h"
#include "tests/support/http2_bridge.h"
#include "tests/support/lasting_port.h"
#include "tests/support/proxy.h"
#include "tests/support/stage.h"
#include "tests/support/upstream.h"

namespace edge::test {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<runtime::Server> serve(const std::string& config, const std::map<std::string, std::uint16_t>& ports) {
  runtime::ServerOptions options;
  options.threads = 1;
  options.ephemeral_ports = true;
  auto server = runtime::Server::start(options);
  const Result<Compiled> compiled = compile_text("http2_backend_test", expand_config(config, ports));
  if (!server || !compiled) {
    ADD_FAILURE() << (server ? compiled.error().text : server.error().text);
    return nullptr;
  }
  (*server)->set_endpoints(compiled->endpoints);
  (*server)->set_secrets(compiled->secrets);
  EXPECT_TRUE((*server)->install(compiled->program));
  return std::move(*server);
}

std::uint16_t port_of(const runtime::Server& server) { return server.addresses()[0].port; }

/// Which side speaks HTTP/2.
using Sides = std::tuple<bool, bool>;

class Http2Backend : public ::testing::TestWithParam<Sides> {
 protected:
  static bool client_is_h2() { return std::get<0>(GetParam()); }
  static bool backend_is_h2() { return std::get<1>(GetParam()); }

  /// A backend that serves waits for connections until its stage ends.
  void TearDown() override { stage_.abort(); }

  /// A backend that runs `script`, and the client's connection.
  void begin(const std::string& script, const std::string& gateway = {}) {
    upstream_ = std::make_unique<Upstream>(stage_, "a", Upstream::Kind::kScript);
    std::istringstream text("== upstream a\n" + script);
    upstream_->start(parse_case("script", text, 1).sections.at(0).commands);
    serve_upstream({}, gateway);
  }

  /// `settings` of the backend, lines beside its protocol; `gateway`, lines of the gateway's spec.
  void serve_upstream(const std::string& settings, const std::string& gateway = {},
                      const std::string& route = "@route a\n") {
    std::uint16_t port = upstream_->port();
    if (backend_is_h2()) {
      inner_ = serve("@gateway\n@backend a\n@route a\n", {{"a", port}});
      port = port_of(*inner_);
    }
    server_ =
        serve("@gateway\n" + gateway +
                  "@service a\n---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\n"
                  "metadata: {name: a, namespace: default}\nspec:\n  serviceRef: {name: a, port: 80}\n  protocol: " +
                  std::string(backend_is_h2() ? "H2C" : "HTTP") + "\n" + settings + route,
              {{"a", port}});
    connect();
  }

  void connect() {
    int fd = -1;
    if (client_is_h2()) {
      auto bridge = Http2Bridge::open(port_of(*server_), fd);
      ASSERT_TRUE(bridge.ok()) << bridge.error().text;
      bridge_ = std::move(*bridge);
    } else {
      const Result<int> dialed = Connection::dial(port_of(*server_));
      ASSERT_TRUE(dialed.ok()) << dialed.error().text;
      fd = *dialed;
    }
    client_ = std::make_unique<Connection>(fd, stage_.deadline());
  }

  /// The script came to its end, and held.
  void end() {
    upstream_->join();
    EXPECT_EQ(stage_.failure(), "");
  }

  /// Sends, and gives the status line and body of the answer.
  std::string ask(const std::string& request) {
    EXPECT_TRUE(client_->send(request));
    const Result<Message> head = client_->receive_head();
    if (!head) return head.error().text;
    const std::string status = head->start_line.substr(9, 3);
    if (status == "204") return status;
    const Result<std::string> body = client_->receive_body(*head);
    return status + " " + (body ? *body : body.error().text);
  }

  Stage stage_{20s};
  std::unique_ptr<Upstream> upstream_;
  std::unique_ptr<runtime::Server> inner_;
  std::unique_ptr<runtime::Server> server_;
  std::unique_ptr<Http2Bridge> bridge_;
  std::unique_ptr<Connection> client_;
};

TEST_P(Http2Backend, ViaTellsWhatTheBackendSpoke) {
  begin("accept\nhead GET / HTTP/1.1\nsend \"HTTP/1.1 204 No Content\\r\\n\\r\\n\"\n");
  EXPECT_TRUE(client_->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  const Result<Message> head = client_->receive_head();
  ASSERT_TRUE(head.ok()) << head.error().text;
  ASSERT_FALSE(head->values("via").empty());
  EXPECT_EQ(head->values("via").back(), backend_is_h2() ? "2 edge" : "1.1 edge");
  end();
}

TEST_P(Http2Backend, RequestsAndAnswersOneAfterTheOther) {
  begin(
      "accept\n"
      "head GET /one?x=y HTTP/1.1\n"
      "field X-Test: 1\n"
      R"(send "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")"
      "\n"
      "head POST /two HTTP/1.1\n"
      "body hello\n"
      R"(send "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n")"
      "\n"
      "head DELETE /three HTTP/1.1\n"
      R"(send "HTTP/1.1 204 No Content\r\n\r\n")"
      "\n");
  EXPECT_EQ(ask("GET /one?x=y HTTP/1.1\r\nHost: a\r\nX-Test: 1\r\n\r\n"), "200 one");
  EXPECT_EQ(ask("POST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"), "201 two");
  EXPECT_EQ(ask("DELETE /three HTTP/1.1\r\nHost: a\r\n\r\n"), "204");
  end();
  if (backend_is_h2()) EXPECT_EQ(server_->stats().upstream_connects, 1U);
}

TEST_P(Http2Backend, ACallersDeadlineIsNoFaultOfAnEndpoint) {
  upstream_ = std::make_unique<Upstream>(stage_, "a", Upstream::Kind::kFull);
  serve_upstream("  circuitBreaker: {consecutiveErrors: 1, baseEjectionTime: 1h}\n");
  for (int call = 0; call < 3; ++call) {
    EXPECT_TRUE(
        client_->send("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\ngrpc-timeout: "
                      "1m\r\nContent-Length: 0\r\n\r\n"));
    const Result<Message> head = client_->receive_head();
    ASSERT_TRUE(head.ok()) << head.error().text;
    EXPECT_EQ(head->values("grpc-status"), std::vector<std::string>{"4"});
  }
  const std::vector<runtime::BackendStatus> backends = server_->backends();
  ASSERT_EQ(backends.size(), 1U);
  EXPECT_EQ(backends[0].circuit, runtime::Circuit::State::kClosed);
  EXPECT_EQ(backends[0].connect_failures, 0U);
}

TEST_P(Http2Backend, TakesNewConnectionsOnceTheTrafficOfItsGatewayWasMoved) {
  upstream_ = std::make_unique<Upstream>(stage_, "a", Upstream::Kind::kServe);
  upstream_->start({});
  serve_upstream({});
  const auto connects = [&] {
    EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "200 a");
    return server_->stats().upstream_connects;
  };
  EXPECT_EQ(connects(), 1U);
  EXPECT_EQ(connects(), 1U);
  const runtime::GatewayMark other{.gateway = 7, .mark = 0, .turn = 1};
  runtime::GatewayMark own{.gateway = stable_id("ProxyGateway", "default", "edge"), .mark = 0, .turn = 1};
  server_->set_route_marks(std::vector{other});
  EXPECT_EQ(connects(), 1U);
  server_->set_route_marks(std::vector{other, own});
  EXPECT_EQ(connects(), 2U);
  EXPECT_EQ(connects(), 2U);
  own.turn = 2;
  server_->set_route_marks(std::vector{own});
  EXPECT_EQ(connects(), 3U);
  server_->set_route_marks({});
  EXPECT_EQ(connects(), 3U);
}

TEST_P(Http2Backend, AMirroredCopyGoesTheWayOfItsRequest) {
  upstream_ = std::make_unique<Upstream>(stage_, "a", Upstream::Kind::kServe);
  upstream_->start({});
  serve_upstream({}, {},
                 "@backend copy=a\n"
                 "@route a filters: [{type: RequestMirror, requestMirror: {backendRef: {name: copy}}}]\n");
  runtime::GatewayMark own{.gateway = stable_id("ProxyGateway", "default", "edge"), .mark = 0, .turn = 0};
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    own.turn = static_cast<std::uint32_t>(turn);
    server_->set_route_marks(std::vector{own});
    EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "200 a");
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (server_->stats().upstream_connects < 2 * turn && std::chrono::steady_clock::now() < until) {
      std::this_thread::yield();
    }
    ASSERT_EQ(server_->stats().upstream_connects, 2 * turn);
  }
}

TEST_P(Http2Backend, ARefreshOfTheCacheGoesTheWayOfItsRequest) {
  begin(
      "accept\n"
      "head GET / HTTP/1.1\n"
      R"(send "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-while-revalidate=60\r\nContent-Length: 2\r\n\r\ns1")"
      "\n"
      "head GET / HTTP/1.1\n"
      R"(send "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\ns2")"
      "\n",
      "  cache: {enabled: true}\n");
  const std::vector own = {
      runtime::GatewayMark{.gateway = stable_id("ProxyGateway", "default", "edge"), .mark = 0, .turn = 1}};
  server_->set_route_marks(own);
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "200 s1");
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "200 s1");
  end();
  EXPECT_EQ(server_->stats().upstream_connects, 1U);
}

TEST_P(Http2Backend, ARequestInFlightEndsWhereItBeganThoughItsGatewayWasMoved) {
  begin(
      "accept\n"
      "head POST /one HTTP/1.1\n"
      "body helloworld\n"
      R"(send "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")"
      "\n");
  EXPECT_TRUE(client_->send("POST /one HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello"));
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (server_->stats().upstream_connects == 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  ASSERT_EQ(server_->stats().upstream_connects, 1U);
  const std::vector own = {
      runtime::GatewayMark{.gateway = stable_id("ProxyGateway", "default", "edge"), .mark = 0, .turn = 1}};
  server_->set_route_marks(own);
  EXPECT_TRUE(client_->send("world"));
  const Result<Message> head = client_->receive_head();
  ASSERT_TRUE(head.ok()) << head.error().text;
  const Result<std::string> body = client_->receive_body(*head);
  EXPECT_EQ(body ? *body : body.error().text, "one");
  EXPECT_EQ(server_->stats().upstream_connects, 1U);
  end();
}

TEST_P(Http2Backend, KeepsNoMoreUnusedConnectionsThanItMay) {
  upstream_ = std::make_unique<Upstream>(stage_, "a", Upstream::Kind::kServe);
  upstream_->start({});
  serve_upstream("  connectionPool: {maxIdleConns: 0}\n");
  for (int n = 0; n < 3; ++n) EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "200 a");
  EXPECT_EQ(server_->stats().upstream_connects, 3U);
}

TEST_P(Http2Backend, LargeBodiesBothWays) {
  begin(
      "accept\n"
      "head PUT /big HTTP/1.1\n"
      "body-fill 2000000\n"
      R"(send "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n")"
      "\n"
      "fill 3000000\n");
  EXPECT_TRUE(client_->send("PUT /big HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n"));
  const std::string answer = ask(pattern(2000000));
  EXPECT_TRUE(answer == "200 " + pattern(3000000)) << answer.substr(0, 200);
  end();
}

// Each event is with the client before the next one is written.
TEST_P(Http2Backend, EventsAreNotHeldBack) {
  begin(
      "accept\n"
      "head GET /events HTTP/1.1\n"
      R"(send "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")"
      "\n"
      R"(send "9\r\ndata: 1\n\n\r\n")"
      "\nwait first\n"
      R"(send "9\r\ndata: 2\n\n\r\n")"
      "\nwait second\n"
      R"(send "0\r\n\r\n")"
      "\n");
  ASSERT_TRUE(client_->send("GET /events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n"));
  const Result<Message> head = client_->receive_head();
  ASSERT_TRUE(head.ok()) << head.error().text;
  Result<std::string> event = client_->receive_chunk();
  ASSERT_TRUE(event.ok()) << event.error().text;
  EXPECT_EQ(*event, "data: 1\n\n");
  stage_.signal("first");
  event = client_->receive_chunk();
  ASSERT_TRUE(event.ok()) << event.error().text;
  EXPECT_EQ(*event, "data: 2\n\n");
  stage_.signal("second");
  event = client_->receive_chunk();
  ASSERT_TRUE(event.ok()) << event.error().text;
  EXPECT_EQ(*event, "");
  end();
}

TEST_P(Http2Backend, WhatTheBackendBreaksOffIsNotTakenForWhole) {
  begin(
      "accept\n"
      "head GET / HTTP/1.1\n"
      R"(send "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")"
      "\nclose\n");
  EXPECT_TRUE(client_->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  // A reset may overtake what was sent before it: then the answer is ours, or none at all.
  const Result<Message> head = client_->receive_head();
  if (head.ok() && head->start_line.substr(9, 3) == "200") {
    EXPECT_FALSE(client_->receive_body(*head).ok());
  } else if (head.ok()) {
    EXPECT_EQ(head->start_line.substr(9, 3), "502");
  }
  end();
}

std::string name_of(const ::testing::TestParamInfo<Sides>& info) {
  return std::string(std::get<0>(info.param) ? "ClientH2" : "ClientH1") +
         (std::get<1>(info.param) ? "BackendH2" : "BackendH1");
}
INSTANTIATE_TEST_SUITE_P(Sides, Http2Backend, ::testing::Combine(::testing::Bool(), ::testing::Bool()), name_of);

// To a backend of HTTP/2 it is an extended CONNECT (RFC 8441), which the second proxy takes apart again.
class WebSocketToBackend : public Http2Backend {};

TEST_P(WebSocketToBackend, BytesGoBothWays) {
  begin(
      "accept\n"
      "head GET /chat HTTP/1.1\n"
      "field Upgrade: websocket\n"
      "field Sec-WebSocket-Version: 13\n"
      "field-like Sec-WebSocket-Key: ^[A-Za-z0-9+/]{22}==$\n"
      R"(send "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n")"
      "\n"
      R"(send "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n\r\n\x81\x02hi")"
      "\n"
      R"(raw "\x81\x85abcd\x00\x01\x02\x03\x04")"
      "\n"
      R"(send "\x88\x00")"
      "\n"
      R"(raw "\x88\x80abcd")"
      "\nclose\n");
  ASSERT_TRUE(
      client_->send("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"));
  const Result<Message> head = client_->receive_head();
  ASSERT_TRUE(head.ok()) << head.error().text;
  EXPECT_EQ(head->start_line, "HTTP/1.1 101 Switching Protocols");
  EXPECT_EQ(head->values("Sec-WebSocket-Accept"), std::vector<std::string>{"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="});
  EXPECT_EQ(head->values("Sec-WebSocket-Protocol"), std::vector<std::string>{"chat"});
  EXPECT_EQ(client_->receive(4).value(), "\x81\x02hi");
  ASSERT_TRUE(
      client_->send(std::string("\x81\x85"
                                "abcd\0\1\2\3\4",
                                11)));
  EXPECT_EQ(client_->receive(2).value(), std::string("\x88\0", 2));
  ASSERT_TRUE(
      client_->send("\x88\x80"
                    "abcd"));
  EXPECT_TRUE(client_->expect_closed().ok());
  end();
  EXPECT_EQ(server_->stats().tunnels, 1U);
}

TEST_P(WebSocketToBackend, ARefusalIsAnAnswerLikeAnyOther) {
  begin(
      "accept\n"
      "head GET /chat HTTP/1.1\n"
      R"(send "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")"
      "\n"
      "head GET /next HTTP/1.1\n"
      R"(send "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes")"
      "\n");
  EXPECT_EQ(ask("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"),
            "403 no");
  EXPECT_EQ(ask("GET /next HTTP/1.1\r\nHost: a\r\n\r\n"), "200 yes");
  end();
}
INSTANTIATE_TEST_SUITE_P(Sides, WebSocketToBackend, ::testing::Combine(::testing::Values(false), ::testing::Bool()),
                         name_of);

// ---- Checks ---------------------------------------------------------------------------------------------------------

// An HTTP check is a request like any other: to a backend of HTTP/2 it goes on a stream.
TEST(Http2Check, FollowsWhatTheEndpointAnswers) {
  Stage stage(20s);
  Upstream upstream(stage, "a", Upstream::Kind::kServe);
  upstream.start({});
  const auto inner = serve("@gateway\n@backend a\n@route a\n", {{"a", upstream.port()}});
  ASSERT_NE(inner, nullptr);
  const auto proxy = serve(
      "@gateway\n@service a\n---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\n"
      "metadata: {name: a, namespace: default}\nspec: {serviceRef: {name: a, port: 80}, protocol: H2C, "
      "healthCheck: {interval: 20ms, timeout: 10s, healthyThreshold: 1, unhealthyThreshold: 1}}\n@route a\n",
      {{"a", port_of(*inner)}});
  ASSERT_NE(proxy, nullptr);
  const auto await = [&](runtime::Health wanted) {
    while (proxy->backends()[0].endpoints[0].health != wanted) {
      if (stage.deadline().over()) return "waited in vain; last: " + proxy->backends()[0].endpoints[0].last_error;
      std::this_thread::yield();
    }
    return proxy->backends()[0].endpoints[0].last_error;
  };
  EXPECT_EQ(await(runtime::Health::kHealthy), "");
  upstream.answer_with(503);
  EXPECT_EQ(await(runtime::Health::kUnhealthy), "status 503");
  upstream.answer_with(200);
  EXPECT_EQ(await(runtime::Health::kHealthy), "");
  stage.abort();
}

// ---- nghttpd --------------------------------------------------------------------------------------------------------

/// Lines of a configuration: a backend of protocol H2.
std::string backend_over_tls(const std::string& name, const std::string& host, const std::string& authority) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: " + name +
         ", namespace: default}\nspec:\n  serviceRef: {name: " + name + ", port: 80}\n  protocol: H2\n" +
         "  tls: {hostname: " + host + ", caCertificateRefs: [{name: " + authority + "}]}\n@service " + name + "\n";
}

constexpr const char* kNghttpd = "/usr/sbin/nghttpd";

/// nghttpd with two files, in the clear or with a certificate for files.example.
class Nghttpd : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (::access(kNghttpd, X_OK) != 0) GTEST_SKIP() << kNghttpd << " is not installed (script/packages.txt)";
    for (std::size_t i = 0; i < large_.size(); ++i) large_[i] = static_cast<char>(i * 2654435761U >> 11);
    root_.put("small.txt", "a small file\n");
    root_.put("large", large_);
    port_ = test::lasting_port();
    std::vector<std::string> command = {
        kNghttpd, "--echo-upload", "-d", root_.path().string(), "--address=127.0.0.1", std::to_string(port_)};
    if (GetParam()) {
      const IssuedCertificate certificate = authority_.issue("files.example");
      root_.put("key.pem", certificate.key);
      root_.put("chain.pem", certificate.chain);
      command.push_back(root_ / "key.pem");
      command.push_back(root_ / "chain.pem");
    } else {
      command.emplace_back("--no-tls");
    }
    server_ = std::make_unique<test::Process>(command);
    while (!Connection::dial(port_).ok()) ASSERT_FALSE(stage_.deadline().over()) << "nghttpd does not come up";
    proxy_ = serve(GetParam() ? secure_config() : "@gateway\n@backend files protocol: H2C\n@route files\n",
                   {{"files", port_}});
    ASSERT_NE(proxy_, nullptr);
    client_ = std::make_unique<Connection>(Connection::dial(port_of(*proxy_)).value(), stage_.deadline());
  }

  std::string secure_config() const {
    std::string config = "@gateway\n" + backend_over_tls("files", "files.example", "issuer") + "@route files\n";
    config += "---\napiVersion: v1\nkind: Secret\nmetadata: {name: issuer, namespace: default}\n";
    config += "stringData:\n  ca.crt: |\n";
    std::istringstream lines(authority_.pem());
    for (std::string line; std::getline(lines, line);) config += "    " + line + "\n";
    return config;
  }

  std::string fetch(const std::string& request) {
    EXPECT_TRUE(client_->send(request));
    const Result<Message> head = client_->receive_head();
    if (!head) return head.error().text;
    const Result<std::string> body = client_->receive_body(*head);
    return head->start_line.substr(9, 3) + " " + (body ? *body : body.error().text);
  }

  Stage stage_{20s};
  const test::TempDir root_;
  const TestAuthority authority_;
  std::string large_ = std::string(700'000, '\0');
  std::uint16_t port_ = 0;
  std::unique_ptr<test::Process> server_;
  std::unique_ptr<runtime::Server> proxy_;
  std::unique_ptr<Connection> client_;
};

TEST_P(Nghttpd, ServesThroughTheProxy) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(fetch("GET /small.txt HTTP/1.1\r\nHost: a\r\n\r\n"), "200 a small file\n");
  }
  EXPECT_TRUE(fetch("GET /large HTTP/1.1\r\nHost: a\r\n\r\n") == "200 " + large_);
  EXPECT_TRUE(fetch("GET /none HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("404 "));
  const std::string length = std::to_string(large_.size());
  EXPECT_TRUE(fetch("PUT /up HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n" + large_) ==
              "200 " + large_);
  EXPECT_EQ(proxy_->stats().upstream_connects, 1U);
}
INSTANTIATE_TEST_SUITE_P(Over, Nghttpd, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Tls" : "Plain"; });

// Over TLS the endpoint has to agree: what was configured is not spoken to one that chooses HTTP/1.1.
TEST(Alpn, AnEndpointThatDoesNotAgreeIsNotSpokenTo) {
  Stage stage(20s);
  Upstream upstream(stage, "a", Upstream::Kind::kServe, test_upstream());
  upstream.start({});
  const auto proxy = serve(
      "@authority authority\n@gateway\n" + backend_over_tls("a", std::string(kTestHost), "authority") + "@route a\n",
      {{"a", upstream.port()}});
  ASSERT_NE(proxy, nullptr);
  Connection client(Connection::dial(port_of(*proxy)).value(), stage.deadline());
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  const Result<Message> head = client.receive_head();
  ASSERT_TRUE(head.ok()) << head.error().text;
  EXPECT_TRUE(head->start_line.starts_with("HTTP/1.1 502")) << head->start_line;
  stage.abort();
}

}  // namespace
}  // namespace edge::test
