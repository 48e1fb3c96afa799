// Datagrams through the whole product, on real sockets: sessions, endpoints that refuse or go, programs that change,
// what strangers may cost, a drain, and a process that takes over.
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "net/datagrams.h"
#include "net/proxy_protocol.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

using net::Fd;
using net::SocketAddress;

constexpr int kPatienceMilliseconds = 20'000;

IpAddress loopback() { return *parse_ip("127.0.0.1"); }
Fd socket_of(Result<Fd> opened) { return opened.ok() ? std::move(*opened) : Fd(); }

bool readable(int fd, int milliseconds = kPatienceMilliseconds) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, milliseconds) == 1 && (wait.revents & POLLIN) != 0;
}

/// A client's socket, from a port of its own.
class Client {
 public:
  explicit Client(std::uint16_t proxy, const IpAddress& at = loopback())
      : socket_(socket_of(net::connect_udp({at, proxy}))) {}

  bool send(std::string_view text) const {
    return ::send(socket_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  }
  /// `?` when nothing comes.
  std::string receive() const {
    std::string text(70'000, '\0');
    if (!readable(socket_.get())) return "?";
    const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), 0);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }
  std::string ask(std::string_view text) const { return send(text) ? receive() : "?"; }
  /// Until it is answered, as one does whose datagrams may be lost.
  std::string insist(std::string_view text) const {
    for (int tries = 0; tries < 100; ++tries) {
      if (send(text) && readable(socket_.get(), 200)) return receive();
    }
    return "?";
  }
  int fd() const { return socket_.get(); }

 private:
  Fd socket_;
};

/// An endpoint that answers each datagram with its own name and the datagram; `port` with the port that it came from,
/// one that begins with `many ` as often as it says, and none that begins with `quiet`.
class Echo {
 public:
  explicit Echo(std::string name, std::uint16_t port = 0)
      : name_(std::move(name)), socket_(socket_of(net::listen_udp(loopback(), port))) {
    port_ = net::local_address(socket_.get()).port;
    thread_ = std::thread([this] { run(); });
  }
  ~Echo() {
    stopped_ = true;
    thread_.join();
  }
  std::uint16_t port() const { return port_; }
  std::uint64_t met() const { return met_; }

 private:
  void run() {
    std::string text(70'000, '\0');
    while (!stopped_) {
      if (!readable(socket_.get(), 20)) continue;
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      const ssize_t got =
          ::recvfrom(socket_.get(), text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&peer), &size);
      if (got < 0) continue;
      ++met_;
      const std::string_view asked(text.data(), static_cast<std::size_t>(got));
      if (asked.starts_with("quiet")) continue;
      const int times = asked.starts_with("many ") ? std::atoi(std::string(asked.substr(5)).c_str()) : 1;
      const std::string from = std::to_string(ntohs(reinterpret_cast<const sockaddr_in&>(peer).sin_port));
      const std::string answer = name_ + ":" + (asked == "port" ? from : std::string(asked));
      for (int i = 0; i < times; ++i) {
        ::sendto(socket_.get(), answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&peer), size);
      }
    }
  }

  std::string name_;
  Fd socket_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopped_{false};
  std::atomic<std::uint64_t> met_{0};
  std::thread thread_;
};

class Udp : public testing::Test {
 protected:
  void start(unsigned threads = 2, std::uint32_t most_sessions = 16'384, bool own_port = true) {
    runtime::ServerOptions options;
    options.threads = threads;
    options.max_udp_sessions = most_sessions;
    options.ephemeral_ports = own_port;
    auto started = runtime::Server::start(options);
    ASSERT_TRUE(started.ok());
    server = std::move(*started);
  }

  static std::string endpoints_of(const std::vector<std::uint16_t>& ports) {
    std::string list;
    for (const std::uint16_t port : ports) {
      list += (list.empty() ? "" : ", ") + ("{address: '127.0.0.1:" + std::to_string(port) + "'}");
    }
    return "endpoints: [" + list + "]";
  }
  static std::string backend(const std::string& name, const std::vector<std::uint16_t>& ports,
                             const std::string& more = {}) {
    return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: " + name +
           "}\nspec: {protocol: UDP, " + endpoints_of(ports) + (more.empty() ? "" : ", " + more) + "}\n";
  }
  static std::string route(const std::string& rule) {
    return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: r}\nspec: {parentRefs: [{name: "
           "g}], rules: [{" +
           rule + "}]}\n";
  }
  static std::string gateway(const std::string& more = {}) {
    return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: g}\nspec: {listeners: [{name: dns, "
           "port: 53, protocol: UDP}]" +
           (more.empty() ? "" : ", " + more) + "}\n";
  }
  void serve(const std::string& config) {
    const auto compiled = compile_text("test", config);
    ASSERT_TRUE(compiled.ok()) << compiled.error().text << config;
    server->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server->install(compiled->program).ok());
  }
  std::uint16_t port() const { return server->addresses().at(0).port; }
  std::uint64_t dropped(std::size_t why) const { return server->stats().udp_drops.at(why); }
  /// Looks again until it is so.
  template <typename Condition>
  static bool becomes(Condition condition) {
    for (int tries = 0; tries < 4000; ++tries) {
      if (condition()) return true;
      ::poll(nullptr, 0, 5);
    }
    return false;
  }

  std::unique_ptr<runtime::Server> server;
};

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

TEST_F(Udp, AProcessThatTakesOverHasThePortAndLosesNothing) {
  start();
  Echo a("a");
  const std::string config = gateway() + backend("be", {a.port()}) + route("backendRefs: [{name: be}]");
  serve(config);
  const std::uint16_t served = port();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(clients.emplace_back(std::make_unique<Client>(served))->ask("q"), "a:q");
  }
  std::unique_ptr<runtime::Server> before = std::move(server);
  std::vector<runtime::ListeningSockets> sockets = before->share_listeners();
  ASSERT_EQ(sockets.size(), 1U);
  EXPECT_TRUE(sockets[0].udp);
  start(3);
  server->adopt(std::move(sockets));
  serve(config);
  EXPECT_EQ(port(), served);
  EXPECT_TRUE(before->drain(std::chrono::seconds(20)));
  // One of an older version gives no flows.
  server->take_flows({});
  for (const auto& client : clients) EXPECT_EQ(client->ask("again"), "a:again");
  before.reset();
  for (const auto& client : clients) EXPECT_EQ(client->ask("more"), "a:more");
}

// Flows go on by the sockets that they have to their endpoints, which see no other client; those whose endpoint the new
// process does not have begin anew.
TEST_F(Udp, AProcessThatTakesOverGoesOnWithFlows) {
  start();
  Echo a("a");
  Echo b("b");
  Echo c("c");
  const std::string listener = gateway();
  const std::string to_be = route("backendRefs: [{name: be}]");
  serve(listener + backend("be", {a.port(), b.port(), c.port()}) + to_be);
  const std::uint16_t served = port();
  std::vector<std::pair<std::unique_ptr<Client>, std::string>> flows;
  for (int i = 0; i < 30; ++i) {
    auto client = std::make_unique<Client>(served);
    std::string answer = client->ask("port");
    flows.emplace_back(std::move(client), std::move(answer));
  }
  std::unique_ptr<runtime::Server> before = std::move(server);
  std::vector<runtime::ListeningSockets> sockets = before->share_listeners();
  start(3);
  server->adopt(std::move(sockets));
  serve(listener + backend("be", {a.port(), b.port()}) + to_be);
  EXPECT_EQ(port(), served);
  // Both have the sockets, and one receives.
  for (const auto& [client, answer] : flows) EXPECT_EQ(client->ask("port"), answer);
  EXPECT_EQ(server->stats().udp_sessions_active, 0U);
  // An answer that is due comes, whoever has the socket meanwhile.
  const auto& waiting = *std::ranges::find_if(flows, [](const auto& flow) { return flow.second.starts_with("a:"); });
  ASSERT_TRUE(waiting.first->send("many 3"));
  EXPECT_EQ(waiting.first->receive(), "a:many 3");
  server->take_flows(before->give_flows());
  EXPECT_EQ(before->stats().udp_sessions_active, 0U);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(waiting.first->receive(), "a:many 3");
  EXPECT_TRUE(before->drain(std::chrono::seconds(20)));
  before.reset();
  for (const auto& [client, answer] : flows) {
    const std::string now = client->ask("port");
    if (answer.starts_with("c:")) {
      EXPECT_FALSE(now.starts_with("c:") || now == "?") << now;
    } else {
      EXPECT_EQ(now, answer);
    }
  }
  EXPECT_EQ(server->stats().udp_sessions_active, flows.size());
  // New flows have all of it, too.
  EXPECT_NE(Client(served).ask("new"), "?");
}

TEST_F(Udp, APortThatAnotherProcessHasIsReportedAndTriedAgain) {
  Fd other = socket_of(net::listen_udp(std::nullopt, 0));
  const std::uint16_t taken = net::local_address(other.get()).port;
  start(2, 100, false);
  Echo a("a");
  const std::string config =
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: g}\nspec: {listeners: [{name: dns, "
      "port: " +
      std::to_string(taken) + ", protocol: UDP}]}\n";
  serve(config + backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  const auto unbound = server->unbound();
  ASSERT_EQ(unbound.size(), 1U);
  EXPECT_EQ(unbound[0].listener, "dns");
  EXPECT_EQ(unbound[0].fault, runtime::ListenFault::kPort);
  EXPECT_NE(unbound[0].reason.find("UDP port"), std::string::npos) << unbound[0].reason;
  other.reset();
  EXPECT_TRUE(server->recheck_listeners());
  EXPECT_TRUE(server->unbound().empty());
  EXPECT_EQ(Client(taken).ask("q"), "a:q");
}

TEST_F(Udp, OneNumberIsAPortOfUdpAndOneOfTcp) {
  start();
  Echo a("a");
  serve(
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: g}\nspec: {listeners: [{name: dns, "
      "port: "
      "53, protocol: UDP}, {name: zone, port: 53, protocol: TCP}]}\n" +
      backend("be", {a.port()}) + route("backendRefs: [{name: be}]"));
  ASSERT_EQ(server->addresses().size(), 2U);
  for (const runtime::BoundAddress& one : server->addresses()) {
    if (one.listener == "dns") EXPECT_EQ(Client(one.port).ask("q"), "a:q");
  }
}

}  // namespace
}  // namespace edge::test
