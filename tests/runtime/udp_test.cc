// Datagrams through the whole product, on real sockets: sessions, endpoints that refuse or go, programs that change,
// what strangers may cost, and a drain. A process that takes over: udp_takeover_test.cc.
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/hash.h"
#include "net/datagrams.h"
#include "net/proxy_protocol.h"
#include "tests/runtime/udp_proxy.h"

namespace edge::test {
namespace {

constexpr std::size_t kNoRoute = 0;
constexpr std::size_t kNoEndpoint = 1;
constexpr std::size_t kLimit = 2;
constexpr std::size_t kOversized = 3;

TEST_F(Udp, AFlowKeepsItsEndpointAndOthersShareThem) {
  start();
  Echo a("a");
  Echo b("b");
  serve(gateway() + backend("be", {a.port(), b.port()}) + route("backendRefs: [{name: be}]"));
  std::map<std::string, int> met;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 40; ++i) {
    const Client& client = *clients.emplace_back(std::make_unique<Client>(port()));
    const std::string first = client.ask("one");
    ASSERT_TRUE(first == "a:one" || first == "b:one") << first;
    ++met[first];
    for (int n = 0; n < 5; ++n) EXPECT_EQ(client.ask("one"), first);
  }
  EXPECT_EQ(met.size(), 2U);
  const runtime::ServerStats stats = server->stats();
  EXPECT_EQ(stats.udp_sessions, 40U);
  EXPECT_EQ(stats.udp_sessions_active, 40U);
  EXPECT_EQ(stats.udp_datagrams_up, 240U);
  EXPECT_EQ(stats.udp_bytes_up, 720U);
  EXPECT_TRUE(becomes([&] { return server->stats().udp_datagrams_down == 240; }));
}

/// The marks of this process' sockets that are connected to a port, ascending.
std::multiset<std::uint32_t> marks_towards(std::uint16_t port) {
  std::multiset<std::uint32_t> marks;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || ntohs(peer.sin_port) != port) continue;
    std::uint32_t mark = 0;
    size = sizeof mark;
    if (::getsockopt(fd, SOL_SOCKET, SO_MARK, &mark, &size) == 0) marks.insert(mark);
  }
  return marks;
}

TEST_F(Udp, FlowsCarryTheMarkThatTheirGatewayHadWhenTheyBegan) {
  const Fd allowed(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::uint32_t any = 1;
  if (::setsockopt(allowed.get(), SOL_SOCKET, SO_MARK, &any, sizeof any) != 0) GTEST_SKIP() << "needs CAP_NET_ADMIN";
  start();
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  const Client before(port());
  EXPECT_EQ(before.ask("one"), "a:one");
  EXPECT_EQ(marks_towards(a.port()), std::multiset<std::uint32_t>{0});
  const runtime::GatewayMark other{.gateway = 7, .mark = 3, .turn = 1};
  runtime::GatewayMark own{.gateway = stable_id("ProxyGateway", "default", "g"), .mark = 1 << 16, .turn = 1};
  server->set_route_marks(std::vector{other, own});
  const Client after(port());
  EXPECT_EQ(after.ask("two"), "a:two");
  EXPECT_EQ(marks_towards(a.port()), (std::multiset<std::uint32_t>{0, 1 << 16}));
  // Flows that are there stay as they are, whatever moves.
  own.turn = 2;
  own.mark = 1 << 17;
  server->set_route_marks(std::vector{own});
  EXPECT_EQ(before.ask("three"), "a:three");
  EXPECT_EQ(after.ask("four"), "a:four");
  EXPECT_EQ(marks_towards(a.port()), (std::multiset<std::uint32_t>{0, 1 << 16}));
  EXPECT_EQ(server->stats().udp_sessions, 2U);
}

TEST_F(Udp, WeightsOfBackendsAreKept) {
  start();
  Echo a("a");
  Echo b("b");
  Echo never("never");
  serve(gateway() + backend("x", {a.port()}) + backend("y", {b.port()}) + backend("z", {never.port()}) +
        route("backendRefs: [{name: x, weight: 3}, {name: y}, {name: z, weight: 0}]"));
  std::map<std::string, int> met;
  for (int i = 0; i < 80; ++i) ++met[Client(port()).ask("q")];
  EXPECT_NEAR(met["a:q"], 60, 4);
  EXPECT_NEAR(met["b:q"], 20, 4);
}

TEST_F(Udp, BatchesKeepOrderAndBounds) {
  start();
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  const Client client(port());
  for (int n = 0; n < 200; ++n) ASSERT_TRUE(client.send("datagram " + std::to_string(1000 + n)));
  for (int n = 0; n < 200; ++n) ASSERT_EQ(client.receive(), "a:datagram " + std::to_string(1000 + n));
  // As one that the kernel cuts.
  net::DatagramQueue queue;
  const std::string row = "1111222233334444555";
  queue.add({}, {.bytes = row, .segment = 4});
  EXPECT_EQ(queue.flush(client.fd()).sent, 5U);
  for (const char* expected : {"a:1111", "a:2222", "a:3333", "a:4444", "a:555"}) EXPECT_EQ(client.receive(), expected);
  ASSERT_TRUE(client.send("many 50"));
  for (int n = 0; n < 50; ++n) ASSERT_EQ(client.receive(), "a:many 50");
  EXPECT_EQ(client.ask(""), "a:");
  const std::string large(60'000, 'x');
  EXPECT_EQ(client.ask(large), "a:" + large);
  EXPECT_EQ(server->stats().udp_sessions, 1U);
}

TEST_F(Udp, AnswersComeFromTheAddressThatWasAsked) {
  start();
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  for (const char* at : {"127.0.0.1", "127.0.0.7", "::1"}) {
    const Client client(port(), *parse_ip(at));
    if (client.fd() >= 0) EXPECT_EQ(client.ask("q"), "a:q") << at;
  }
}

TEST_F(Udp, AnEndpointThatRefusesLosesItsFlowsToTheOthers) {
  start();
  Echo a("a");
  std::uint16_t dead = 0;
  {
    Echo gone("gone");
    dead = gone.port();
  }
  serve(gateway() + backend("be", {a.port(), dead}, "passiveHealthCheck: {consecutiveErrors: 2}") +
        route("backendRefs: [{name: be}]"));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(clients.emplace_back(std::make_unique<Client>(port()))->insist("q"), "a:q");
  }
  EXPECT_EQ(server->stats().udp_sessions, 10U) << "each goes on with another endpoint";
  EXPECT_GT(server->backends().at(0).ejections, 0U) << "refusals count against the endpoint";
}

/// Tells the socket at `from` that a firewall has refused what it sent to `to` (RFC 1812 §5.2.7.1).
void tell_prohibited(int raw, std::uint16_t from, std::uint16_t to) {
  std::string packet("\3\15\0\0\0\0\0\0\x45\0\0\34\0\0\0\0\100\21\0\0\177\0\0\1\177\0\0\1", 28);
  for (const unsigned number : {unsigned{from}, unsigned{to}, 8U, 0U}) {
    packet += static_cast<char>(number >> 8);
    packet += static_cast<char>(number & 0xff);
  }
  unsigned sum = 0;
  for (std::size_t i = 0; i < packet.size(); i += 2) {
    sum += static_cast<unsigned char>(packet[i]) << 8 | static_cast<unsigned char>(packet[i + 1]);
  }
  sum = (sum & 0xffff) + (sum >> 16);
  sum = ~((sum & 0xffff) + (sum >> 16));
  packet[2] = static_cast<char>(sum >> 8);
  packet[3] = static_cast<char>(sum);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::sendto(raw, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&address), sizeof address),
            static_cast<ssize_t>(packet.size()));
}

TEST_F(Udp, AnEndpointBehindAFirewallThatProhibitsItLosesItsFlows) {
  const Fd raw(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  if (!raw.valid()) GTEST_SKIP() << "raw sockets are for root";
  start();
  Echo a("a");
  Echo b("b");
  serve(gateway() + backend("be", {a.port(), b.port()}) + route("backendRefs: [{name: be}]"));
  const Client client(port());
  const std::string first = client.ask("port");
  ASSERT_GT(first.size(), 2U);
  const bool of_a = first.starts_with("a:");
  tell_prohibited(raw.get(), static_cast<std::uint16_t>(std::atoi(first.c_str() + 2)), of_a ? a.port() : b.port());
  EXPECT_EQ(client.ask("q"), of_a ? "b:q" : "a:q") << "nothing of the client's is lost";
  EXPECT_EQ(server->stats().udp_sessions, 1U);
}

TEST_F(Udp, FlowsOfAnEndpointThatGoesMoveAndOthersStay) {
  start();
  Echo a("a");
  Echo b("b");
  const std::string rest = route("backendRefs: [{name: be}]");
  serve(gateway() + backend("be", {a.port(), b.port()}) + rest);
  std::vector<std::unique_ptr<Client>> clients;
  std::set<std::string> met;
  for (int i = 0; i < 10; ++i) met.insert(clients.emplace_back(std::make_unique<Client>(port()))->ask("q"));
  EXPECT_EQ(met.size(), 2U);
  serve(gateway() + backend("be", {b.port()}) + rest);
  for (const auto& client : clients) EXPECT_EQ(client->ask("q"), "b:q");
  EXPECT_EQ(server->stats().udp_sessions, 10U);
}

TEST_F(Udp, AnotherProgramKeepsSessionsThatItSendsToTheSameBackend) {
  start();
  Echo a("a");
  Echo b("b");
  const std::string backends = backend("x", {a.port()}) + backend("y", {b.port()});
  serve(gateway() + backends + route("backendRefs: [{name: x}]"));
  const Client client(port());
  EXPECT_EQ(client.ask("q"), "a:q");
  serve(gateway("accessLog: {enabled: true}") + backends + route("backendRefs: [{name: y}, {name: x}]"));
  EXPECT_EQ(client.ask("q"), "a:q");
  serve(gateway() + backends + route("backendRefs: [{name: y}]"));
  EXPECT_EQ(client.ask("q"), "b:q") << "as the program says";
  EXPECT_EQ(server->stats().udp_sessions, 1U);
  serve(gateway() + backends);
  ASSERT_TRUE(client.send("q"));
  EXPECT_TRUE(becomes([&] { return dropped(kNoEndpoint) + dropped(kNoRoute) == 1; }));
  EXPECT_EQ(server->stats().udp_sessions_active, 0U);
}

TEST_F(Udp, ABackendThatSendsUnaskedGoesOnAsLongAsThereIsARoute) {
  start();
  Echo a("a");
  const std::string rest = gateway() + backend("x", {a.port()});
  serve(rest + route("backendRefs: [{name: x}]"));
  const Client client(port());
  EXPECT_EQ(client.ask("feed"), "a:feed");
  EXPECT_EQ(client.receive(), "feed");
  serve(rest);
  EXPECT_TRUE(becomes([&] { return server->stats().udp_sessions_active == 0; }));
}

TEST_F(Udp, NothingIsSentWithoutARouteOrAnEndpoint) {
  start();
  serve(gateway());
  const Client client(port());
  ASSERT_TRUE(client.send("q"));
  EXPECT_TRUE(becomes([&] { return dropped(kNoRoute) == 1; }));
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be, weight: 0}]"));
  ASSERT_TRUE(client.send("q"));
  EXPECT_TRUE(becomes([&] { return dropped(kNoEndpoint) == 1; }));
  EXPECT_EQ(server->stats().udp_sessions, 0U);
  EXPECT_EQ(a.met(), 0U);
}

TEST_F(Udp, AddressesThatAPolicyKeepsOutAreDropped) {
  start();
  Echo a("a");
  const auto access = [](const std::string& lists) {
    return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: access, namespace: default}\n"
           "spec: {type: IPAccess, targetRef: {kind: ProxyGateway, name: g}, ipAccess: {" +
           lists + "}}\n";
  };
  const std::string rest = gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]");
  serve(rest + access("allow: [127.0.0.0/8, '::1/128']"));
  const Client client(port());
  EXPECT_EQ(client.ask("q"), "a:q");
  serve(rest + access("deny: [127.0.0.0/8, '::1/128']"));
  ASSERT_TRUE(client.send("q"));
  // With its session, which is decided anew.
  EXPECT_TRUE(becomes([&] { return dropped(kNoEndpoint) + dropped(kNoRoute) == 1; }));
  const Client other(port());
  ASSERT_TRUE(other.send("q"));
  EXPECT_TRUE(becomes([&] { return dropped(kNoRoute) == 1; }));
  EXPECT_EQ(server->stats().udp_sessions_active, 0U);
  EXPECT_EQ(a.met(), 1U);
}

/// Sends a datagram from a port of 127.0.0.1 that is somebody else's. False: that is not for this user.
bool forge(std::uint16_t from, std::uint16_t to, std::string_view text) {
  const Fd raw(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  if (!raw.valid()) return false;
  const auto size = static_cast<std::uint16_t>(28 + text.size());
  // RFC 791 and 768; the kernel fills in the checksum of the former, and 0 is none in the latter.
  std::string packet("\x45\0\0\0\0\0\0\0\x40\x11\0\0\x7f\0\0\1\x7f\0\0\1", 20);
  for (const std::uint16_t number : {from, to, static_cast<std::uint16_t>(size - 20), std::uint16_t{0}}) {
    packet += static_cast<char>(number >> 8);
    packet += static_cast<char>(number & 0xff);
  }
  packet += text;
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::sendto(raw.get(), packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&target),
                  sizeof target) == static_cast<ssize_t>(packet.size());
}

TEST_F(Udp, DatagramsInTheNameOfOthersAreBoundedAndNeverGoRound) {
  start(2, 20);
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  if (!forge(port(), port(), "round")) GTEST_SKIP() << "needs CAP_NET_RAW";
  EXPECT_TRUE(becomes([&] { return dropped(kNoRoute) == 1; }));
  EXPECT_EQ(server->stats().udp_sessions, 0U);
  // Its answers would be taken for questions, and theirs again, for ever.
  EXPECT_EQ(a.met(), 0U);
  const Client client(port());
  EXPECT_EQ(client.ask("one"), "a:one");
  EXPECT_EQ(client.ask("two"), "a:two");
  int forged = 0;
  const auto forge_next = [&] {
    return forge(static_cast<std::uint16_t>(20'000 + forged++ % 10'000), port(), "forged");
  };
  while (forged < 300) ASSERT_TRUE(forge_next());
  // Of datagrams that are read at once only as many get sessions as there may be. How many are, the scheduler decides.
  EXPECT_TRUE(becomes([&] { return forge_next() && a.met() > 100; }));
  EXPECT_LE(server->stats().udp_sessions_active, 20U);
  const std::uint64_t before = server->stats().udp_sessions_evicted;
  EXPECT_GT(before, 0U);
  EXPECT_EQ(client.ask("three"), "a:three");
}

TEST_F(Udp, ASilentSessionEnds) {
  start();
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("limits: {idleTimeout: 100ms}, backendRefs: [{name: be}]"));
  const Client client(port());
  EXPECT_EQ(client.ask("q"), "a:q");
  EXPECT_TRUE(becomes([&] { return server->stats().udp_sessions_active == 0; }));
  EXPECT_EQ(client.ask("q"), "a:q");
  EXPECT_EQ(server->stats().udp_sessions, 2U);
  EXPECT_EQ(server->stats().connections_active, server->stats().udp_sessions_active);
}

TEST_F(Udp, EachDatagramTellsOfTheClientWhereTheBackendAsks) {
  start();
  const Fd endpoint = socket_of(net::listen_udp(loopback(), 0));
  serve(gateway() + backend("be", {net::local_address(endpoint.get()).port}, "proxyProtocol: {version: V2}") +
        route("backendRefs: [{name: be}]"));
  const Client client(port());
  const SocketAddress from = net::local_address(client.fd());
  for (const std::string text : {"one", "two"}) {
    ASSERT_TRUE(client.send(text));
    ASSERT_TRUE(readable(endpoint.get()));
    std::string got(1000, '\0');
    got.resize(static_cast<std::size_t>(::recv(endpoint.get(), got.data(), got.size(), 0)));
    EXPECT_EQ(got, net::write_proxy_header(net::ProxyVersion::kV2, from, {loopback(), port()},
                                           net::ProxyTransport::kDatagram) +
                       text);
    EXPECT_EQ(got[13], '\x12') << "UDP over IPv4";
  }
  // With its header it is larger than a datagram can be.
  ASSERT_TRUE(client.send(std::string(net::kMaxDatagram - 5, 'x')));
  EXPECT_TRUE(becomes([&] { return dropped(kOversized) == 1; }));
}

TEST_F(Udp, AFloodOfSourcesLeavesFlowsThatGoOn) {
  constexpr std::uint32_t kMost = 50;
  start(2, kMost);
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  std::vector<std::unique_ptr<Client>> kept;
  for (int i = 0; i < 10; ++i) {
    const Client& client = *kept.emplace_back(std::make_unique<Client>(port()));
    EXPECT_EQ(client.ask("one"), "a:one");
    EXPECT_EQ(client.ask("two"), "a:two");
  }
  // From as many ports as strangers could name.
  for (int i = 0; i < 500; ++i) {
    EXPECT_TRUE(Client(port()).send("quiet"));
    EXPECT_LE(server->stats().udp_sessions_active, kMost);
  }
  EXPECT_TRUE(becomes([&] { return server->stats().udp_datagrams_up >= 520; }));
  const runtime::ServerStats stats = server->stats();
  EXPECT_GT(stats.udp_sessions_evicted, 0U);
  EXPECT_LE(stats.udp_sessions_active, kMost);
  const std::uint64_t before = stats.udp_sessions;
  for (const auto& client : kept) EXPECT_EQ(client->ask("three"), "a:three");
  EXPECT_EQ(server->stats().udp_sessions, before) << "none of them was given up";
  // Whichever thread the kernel gives a flow to: neither has taken the room of the other.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Client(port()).ask("new"), "a:new");
}

TEST_F(Udp, OneSourceHasNoMoreThanItMay) {
  start();
  Echo a("a");
  serve(gateway("limits: {maxConnectionsPerSource: 3}") + backend("be", {a.port()}) +
        route("backendRefs: [{name: be}]"));
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(clients.emplace_back(std::make_unique<Client>(port()))->ask("q"), "a:q");
  }
  const Client one_more(port());
  ASSERT_TRUE(one_more.send("q"));
  EXPECT_TRUE(becomes([&] { return dropped(kLimit) == 1; }));
  EXPECT_EQ(clients[0]->ask("q"), "a:q");
}

TEST_F(Udp, ABackendHasNoMoreSessionsThanItsConnectionLimits) {
  start();
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}, "connectionLimits: {maxConnections: 2}") +
        route("backendRefs: [{name: be}]"));
  const Client first(port());
  const Client second(port());
  const Client third(port());
  EXPECT_EQ(first.ask("q"), "a:q");
  EXPECT_EQ(second.ask("q"), "a:q");
  ASSERT_TRUE(third.send("q"));
  EXPECT_TRUE(becomes([&] { return dropped(kLimit) == 1; }));
}

/// One socket that asks from as many addresses of 127.0.0.0/8 as it is told.
class ManyClients {
 public:
  explicit ManyClients(std::uint16_t proxy) : proxy_{loopback(), proxy}, socket_(socket_of(net::listen_udp(any(), 0))) {
    net::tell_local_address(socket_.get());
  }
  /// Whether the client of this number is answered, asking again where a datagram was lost.
  bool ask(int number) {
    const IpAddress from = address(number);
    answered_.erase(from);
    for (int tries = 0; tries < 100 && !answered_.contains(from); ++tries) {
      queue_.add({proxy_, from}, {.bytes = "q"});
      static_cast<void>(queue_.flush(socket_.get()));
      while (!answered_.contains(from) && readable(socket_.get(), 200)) receive();
    }
    return answered_.contains(from);
  }

 private:
  static IpAddress any() { return *parse_ip("0.0.0.0"); }
  static IpAddress address(int number) {
    IpAddress one = loopback();
    one.bytes[13] = 1;
    one.bytes[14] = static_cast<std::uint8_t>(number / 250);
    one.bytes[15] = static_cast<std::uint8_t>(number % 250 + 1);
    return one;
  }
  void receive() {
    int error = 0;
    const std::size_t count = buffers_.receive(socket_.get(), 0, buffers_.slots(), error);
    for (std::size_t i = 0; i < count; ++i) {
      if (buffers_.at(i).bytes == "a:q") answered_.insert(buffers_.at(i).local);
    }
  }

  SocketAddress proxy_;
  Fd socket_;
  net::DatagramBuffers buffers_{8};
  net::DatagramQueue queue_;
  std::set<IpAddress> answered_;
};

TEST_F(Udp, TenThousandSessionsAtOnce) {
  constexpr int kSessions = 10'000;
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  if (files.rlim_cur < kSessions + 500) GTEST_SKIP() << "needs " << kSessions + 500 << " descriptors";
  start();
  Echo a("a");
  serve(gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  ManyClients clients(port());
  for (int n = 0; n < kSessions; ++n) ASSERT_TRUE(clients.ask(n)) << n;
  EXPECT_EQ(server->stats().udp_sessions_active, static_cast<std::uint64_t>(kSessions));
  for (int n = 0; n < kSessions; n += 97) EXPECT_TRUE(clients.ask(n)) << n;
  EXPECT_EQ(server->stats().udp_sessions, static_cast<std::uint64_t>(kSessions));
}

TEST_F(Udp, ADrainStillForwardsAnswersThatAreDue) {
  start();
  const Fd endpoint = socket_of(net::listen_udp(loopback(), 0));
  serve(gateway() + backend("be", {net::local_address(endpoint.get()).port}) + route("backendRefs: [{name: be}]"));
  const Client client(port());
  ASSERT_TRUE(client.send("q"));
  ASSERT_TRUE(readable(endpoint.get()));
  sockaddr_storage proxy{};
  socklen_t size = sizeof proxy;
  char text[10];
  ASSERT_EQ(::recvfrom(endpoint.get(), text, sizeof text, 0, reinterpret_cast<sockaddr*>(&proxy), &size), 1);
  std::thread draining([&] { EXPECT_TRUE(server->drain(std::chrono::seconds(20))); });
  EXPECT_TRUE(becomes([&] { return server->addresses().empty() || server->stats().udp_sessions_active == 1; }));
  ::sendto(endpoint.get(), "late", 4, 0, reinterpret_cast<const sockaddr*>(&proxy), size);
  EXPECT_EQ(client.receive(), "late");
  draining.join();
  EXPECT_EQ(server->stats().udp_sessions_active, 0U);
}

}  // namespace
}  // namespace edge::test
