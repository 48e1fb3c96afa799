// What goes from one cluster to a Service of another through its gateway: bytes of TCP and TLS, WebSocket, sessions; on
// how many connections, and what becomes of them when a cluster is not believed any more, or a side drains.
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "tests/support/connection.h"
#include "tests/support/proxy.h"
#include "tests/support/recording_server.h"
#include "tests/support/two_clusters.h"

namespace edge::test {
namespace {

/// A listener of bytes and one of HTTP, to berlin's `default/api` alone.
constexpr const char* kAway = R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: edge, namespace: default}
spec:
  listeners:
    - {name: raw, port: 9000, protocol: TCP}
    - {name: passed, port: 9443, protocol: TLS, tls: {mode: Passthrough}, hostnames: [db.example]}
    - {name: http, port: 8080, protocol: HTTP}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: api, namespace: default}
spec: {clusterRefs: [{cluster: berlin, name: SERVICE, port: 80, gateways: ["${berlin}"]}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: raw, namespace: default}
spec: {parentRefs: [{name: edge, sectionName: raw}], rules: [{backendRef: {name: api}}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: passed, namespace: default}
spec: {parentRefs: [{name: edge, sectionName: passed}], hostnames: [db.example], rules: [{backendRef: {name: api}}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: http, namespace: default}
spec: {parentRefs: [{name: edge, sectionName: http}], rules: [{backendRef: {name: api}}]}
)";

std::string away(const std::string& service = "api") {
  std::string config = kAway;
  config.replace(config.find("SERVICE"), 7, service);
  return config;
}

Deadline patience() { return {std::chrono::steady_clock::now() + std::chrono::minutes(1)}; }

std::unique_ptr<Connection> dial(std::uint16_t port) {
  const Result<int> fd = Connection::dial(port);
  EXPECT_TRUE(fd.ok());
  return std::make_unique<Connection>(*fd, patience());
}

/// Each line back, and at the end of them how many there were.
void echo(Connection& client) {
  int lines = 0;
  for (;;) {
    const auto line = client.receive_until("\n");
    if (!line.ok()) break;
    ++lines;
    if (!client.send(*line)) return;
  }
  static_cast<void>(client.send("lines " + std::to_string(lines) + "\n"));
}

class ClusterTraffic : public testing::Test {
 protected:
  /// A connection of TCP through both clusters that has been answered.
  static std::unique_ptr<Connection> connected(TwoClusters& clusters) {
    auto client = dial(clusters.port("raw"));
    EXPECT_TRUE(client->send("hello\n").ok());
    const auto answer = client->receive_until("\n");
    EXPECT_TRUE(answer.ok() && *answer == "hello\n");
    return client;
  }
};

TEST_F(ClusterTraffic, BytesOfTcpGoOverOneConnectionToTheOtherClusterAndEachWayEndsByItself) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(connected(clusters));
  EXPECT_EQ(service.open(), 40);
  EXPECT_EQ(clusters.hub().stats().upstream_connects, 1U) << "streams of one connection";
  EXPECT_EQ(clusters.berlin().stats().tunnels, 40U);
  for (const auto& client : clients) {
    client->shutdown();
    const auto rest = client->receive_all();
    EXPECT_TRUE(rest.ok() && *rest == "lines 1\n") << "what comes after this side has ended";
  }
  EXPECT_TRUE(becomes([&] { return service.open() == 0; }));
  EXPECT_EQ(clusters.hub().stats().upstream_connects, 1U);
}

TEST_F(ClusterTraffic, TlsIsPassedOnUnread) {
  const TestAuthority authority;
  const IssuedCertificate certificate = authority.issue("db.example");
  RecordingServer service(
      [](const net::server::Request& /*request*/) { return net::server::Reply{.body = "from berlin"}; }, &certificate);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const Result<int> fd = Connection::dial(clusters.port("passed"));
  ASSERT_TRUE(fd.ok());
  Connection client(*fd, patience());
  const auto side = TlsSide::client(authority.pem(), "db.example");
  ASSERT_TRUE(client.encrypt(side->over(*fd)).ok());
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: db.example\r\n\r\n").ok());
  const auto head = client.receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->start_line, "HTTP/1.1 200 OK");
  const auto body = client.receive_body(*head);
  EXPECT_TRUE(body.ok() && *body == "from berlin");
}

TEST_F(ClusterTraffic, LargeTransfersBothWaysAreWhole) {
  constexpr std::size_t kSize = 4'000'000;
  ByteServer service([](Connection& client) {
    const auto all = client.receive(kSize);
    if (all.ok()) static_cast<void>(client.send(*all));
  });
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto client = dial(clusters.port("raw"));
  const std::string sent = pattern(kSize);
  std::thread sending([&] { EXPECT_TRUE(client->send(sent).ok()); });
  sending.join();
  const auto back = client->receive(kSize);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(*back == sent);
}

TEST_F(ClusterTraffic, AnEndpointThatReadsNothingHoldsItsClientUpAndNobodyElse) {
  constexpr std::size_t kMost = std::size_t{48} << 20;
  std::atomic<bool> over{false};
  ByteServer service([&](Connection& client) {
    const auto first = client.receive_until("\n");
    if (!first.ok() || *first != "stuck\n") {
      if (first.ok()) static_cast<void>(client.send(*first));
      return;
    }
    while (!over) ::poll(nullptr, 0, 5);
  });
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto stuck = dial(clusters.port("raw"));
  ASSERT_TRUE(stuck->send("stuck\n").ok());
  const std::string piece(64 * 1024, 'x');
  std::size_t sent = 0;
  // It is held up where the socket takes nothing for a second; what is not held up goes on to kMost.
  for (pollfd wait{stuck->fd(), POLLOUT, 0}; sent < kMost && ::poll(&wait, 1, 1000) == 1;) {
    const ssize_t took = ::send(stuck->fd(), piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (took > 0) sent += static_cast<std::size_t>(took);
  }
  EXPECT_LT(sent, kMost);
  const auto other = connected(clusters);
  over = true;
}

TEST_F(ClusterTraffic, AServiceThatIsNotExportedIsNotReached) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away("other"));
  const auto client = dial(clusters.port("raw"));
  EXPECT_TRUE(client->expect_closed().ok());
  EXPECT_EQ(service.taken(), 0);
  EXPECT_EQ(clusters.berlin().stats().tunnels, 0U);
}

TEST_F(ClusterTraffic, AServiceOfHttp2TakesNoOtherBytes) {
  ByteServer service(echo);
  TwoClusters clusters(service.port(), "kubernetes.io/h2c");
  clusters.serve(away());
  EXPECT_TRUE(dial(clusters.port("raw"))->expect_closed().ok());
  EXPECT_EQ(service.taken(), 0);
}

// The upgrade that a CONNECT is between a stream and its session is no client's to ask for.
TEST_F(ClusterTraffic, AClientCannotAskForATunnelByHttp) {
  RecordingServer service([](const net::server::Request& /*request*/) { return net::server::Reply{.body = "answer"}; });
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto client = dial(clusters.port("http"));
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: connect-tcp\r\n\r\n").ok());
  const auto head = client->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->start_line, "HTTP/1.1 200 OK");
  EXPECT_EQ(clusters.berlin().stats().tunnels, 0U);
  const auto connect = dial(clusters.port("http"));
  ASSERT_TRUE(connect->send("CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n").ok());
  const auto refused = connect->receive_head();
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->start_line, "HTTP/1.1 501 Not Implemented");
}

TEST_F(ClusterTraffic, WebSocketGoesBothWays) {
  ByteServer service([](Connection& client) {
    const auto head = client.receive_head();
    if (!head.ok() || head->values("upgrade").empty()) return;
    static_cast<void>(
        client.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"));
    echo(client);
  });
  TwoClusters clusters(service.port());
  clusters.serve(away());
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(dial(clusters.port("http")));
    ASSERT_TRUE(clients.back()
                    ->send("GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
                    .ok());
    const auto head = clients.back()->receive_head();
    ASSERT_TRUE(head.ok());
    EXPECT_EQ(head->start_line, "HTTP/1.1 101 Switching Protocols");
    EXPECT_EQ(head->values("sec-websocket-accept"), std::vector<std::string>{"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="});
    ASSERT_TRUE(clients.back()->send("a frame\n").ok());
    EXPECT_EQ(clients.back()->receive_until("\n").value(), "a frame\n");
  }
  EXPECT_EQ(clusters.hub().stats().upstream_connects, 1U);
}

TEST_F(ClusterTraffic, ManyRequestsAtOnceAreStreamsOfOneConnection) {
  std::atomic<int> waiting{0};
  std::atomic<bool> go{false};
  ByteServer service([&](Connection& client) {
    const auto head = client.receive_head();
    if (!head.ok()) return;
    ++waiting;
    // None is answered before all are under way.
    while (!go) ::poll(nullptr, 0, 5);
    static_cast<void>(client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"));
  });
  TwoClusters clusters(service.port());
  clusters.serve(away());
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(dial(clusters.port("http")));
    ASSERT_TRUE(clients.back()->send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").ok());
  }
  EXPECT_TRUE(becomes([&] { return waiting == 50; }));
  EXPECT_EQ(clusters.hub().stats().upstream_connects, 1U);
  go = true;
  for (const auto& client : clients) EXPECT_EQ(client->receive_head().value().start_line, "HTTP/1.1 200 OK");
}

/// Connections to berlin's gateway that the hub has, those of health checks not counted.
std::uint32_t connections(TwoClusters& clusters) { return clusters.hub().backends().at(0).connections; }

TEST_F(ClusterTraffic, ACallerThatIsNotBelievedAnyMoreLosesItsConnections) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto client = connected(clusters);
  clusters.believe(clusters.berlin(), {"berlin", "paris"});
  EXPECT_TRUE(client->expect_closed().ok());
  EXPECT_TRUE(becomes([&] { return service.open() == 0; }));
  EXPECT_TRUE(becomes([&] { return connections(clusters) == 0; }));
  EXPECT_TRUE(dial(clusters.port("raw"))->expect_closed().ok());
  EXPECT_EQ(service.taken(), 1);
  // Believed again, it is served again.
  clusters.believe(clusters.berlin(), {"berlin", "hub"});
  EXPECT_TRUE(becomes([&] {
    const auto again = dial(clusters.port("raw"));
    return again->send("hello\n").ok() && again->receive_until("\n").ok();
  }));
}

TEST_F(ClusterTraffic, AClusterThatIsNotBelievedAnyMoreIsNotCalledAndWhatIsOpenIsClosed) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto client = connected(clusters);
  clusters.believe(clusters.hub(), {"hub", "paris"});
  EXPECT_TRUE(client->expect_closed().ok());
  EXPECT_TRUE(becomes([&] { return service.open() == 0; }));
  EXPECT_TRUE(becomes([&] { return connections(clusters) == 0; }));
  EXPECT_TRUE(dial(clusters.port("raw"))->expect_closed().ok());
  EXPECT_EQ(service.taken(), 1);
}

TEST_F(ClusterTraffic, AConnectionWithoutStreamsIsClosedToo) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  connected(clusters)->shutdown();
  EXPECT_TRUE(becomes([&] { return service.open() == 0; }));
  EXPECT_EQ(connections(clusters), 1U);
  clusters.believe(clusters.hub(), {"hub"});
  EXPECT_TRUE(becomes([&] { return connections(clusters) == 0; }));
}

TEST_F(ClusterTraffic, OthersThatAreNotBelievedEndNothingOfThis) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto client = connected(clusters);
  clusters.believe(clusters.berlin(), {"berlin", "hub", "paris"});
  clusters.believe(clusters.hub(), {"berlin", "hub", "paris"});
  ASSERT_TRUE(client->send("still\n").ok());
  EXPECT_EQ(client->receive_until("\n").value(), "still\n");
  EXPECT_EQ(clusters.hub().stats().upstream_connects, 1U);
}

TEST_F(ClusterTraffic, ADrainOfEitherSideLetsTunnelsEnd) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto client = connected(clusters);
  std::atomic<bool> drained{false};
  std::thread draining([&] {
    EXPECT_TRUE(clusters.berlin().drain(std::chrono::minutes(1)));
    drained = true;
  });
  EXPECT_TRUE(becomes([&] {
    const Result<int> fd = Connection::dial(clusters.gateway());
    if (fd.ok()) ::close(*fd);
    return !fd.ok();
  })) << "it takes no more connections";
  ASSERT_TRUE(client->send("still\n").ok());
  EXPECT_EQ(client->receive_until("\n").value(), "still\n");
  EXPECT_FALSE(drained);
  client->shutdown();
  EXPECT_EQ(client->receive_all().value(), "lines 2\n");
  draining.join();
}

TEST_F(ClusterTraffic, AGatewayThatDiesResetsWhatWentThroughIt) {
  ByteServer service(echo);
  TwoClusters clusters(service.port());
  clusters.serve(away());
  const auto client = connected(clusters);
  clusters.stop_berlin();
  EXPECT_TRUE(client->expect_closed().ok());
}

}  // namespace
}  // namespace edge::test
