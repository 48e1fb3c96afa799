// The server on real sockets: swaps under load, endpoints, drain. What a request looks like on the wire is tested by
// the cases of tests/runtime.
#include "runtime/session/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/test_log.h"
#include "runtime/session/test_program.h"

namespace edge::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::backend_id;
using testing::loopback;
using testing::tcp_socket;
using testing::TestProgram;

/// Reads one message whose body has a Content-Length. Empty at the end of the connection.
std::string read_message(int fd, std::string& unread) {
  for (;;) {
    const std::size_t end = unread.find("\r\n\r\n");
    if (end != std::string::npos) {
      std::size_t size = end + 4;
      const std::size_t length = unread.find("Content-Length: ");
      if (length < end) size += std::stoul(unread.substr(length + 16));
      if (unread.size() >= size) {
        std::string message = unread.substr(0, size);
        unread.erase(0, size);
        return message;
      }
    }
    char buffer[4096];
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return {};
    unread.append(buffer, static_cast<std::size_t>(got));
  }
}

bool send_all(int fd, const std::string& text) {
  return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == std::ssize(text);
}

/// Answers each request with its name; a thread a connection.
class Upstream {
 public:
  explicit Upstream(std::string name) : name_(std::move(name)), listener_(tcp_socket()) {
    sockaddr_in address = loopback(0);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_, 1000);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~Upstream() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close_connections();
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }
  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }
  /// As a server does that restarts: what is idle is closed.
  void close_connections() {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  std::string last_request() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  void accept_all() {
    for (;;) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0 && errno == EAGAIN) continue;
      if (fd < 0) return;
      ++connections_;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  }
  void serve(int fd) {
    std::string unread;
    const std::string answer =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(name_.size()) + "\r\n\r\n" + name_;
    for (;;) {
      const std::string request = read_message(fd, unread);
      if (request.empty()) break;
      {
        const std::lock_guard lock(mutex_);
        last_ = request;
      }
      if (!send_all(fd, answer)) break;
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
  }

  std::string name_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::string last_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(tcp_socket()) {
    const sockaddr_in address = loopback(port);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(fd_); }
  bool connected() const { return connected_; }
  bool send(const std::string& text) { return send_all(fd_, text); }
  std::string read() { return read_message(fd_, unread_); }
  std::string get(const std::string& path = "/", const std::string& fields = "") {
    send("GET " + path + " HTTP/1.1\r\nHost: test.example\r\n" + fields + "\r\n");
    return read();
  }

 private:
  int fd_;
  bool connected_ = false;
  std::string unread_;
};

bool ok(const std::string& response, const std::string& body) {
  return response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with("\r\n\r\n" + body);
}

class ServerTest : public ::testing::Test {
 protected:
  void start(const TestProgram& program, unsigned threads = 1) {
    ServerOptions options;
    options.threads = threads;
    options.ephemeral_ports = true;
    auto started = Server::start(options);
    ASSERT_TRUE(started.ok());
    server = std::move(*started);
    const Status installed = server->install(program.load());
    ASSERT_TRUE(installed.ok()) << installed.error().text;
    ASSERT_EQ(server->addresses().size(), 1u);
    port = server->addresses()[0].port;
  }
  /// Without a program; its ports will be those of programs.
  void start_empty(unsigned threads) {
    ServerOptions options;
    options.threads = threads;
    auto started = Server::start(options);
    ASSERT_TRUE(started.ok());
    server = std::move(*started);
  }
  void endpoints(std::vector<std::pair<std::string, std::uint16_t>> list) {
    program::EndpointSet set;
    for (const auto& [name, to] : list) {
      set.backends.push_back({backend_id(name), "test", name, {{*parse_ip("127.0.0.1"), to, true}}});
    }
    std::sort(set.backends.begin(), set.backends.end(),
              [](const auto& a, const auto& b) { return a.backend_id < b.backend_id; });
    server->set_endpoints(set);
  }
  std::unique_ptr<Server> server;
  std::uint16_t port = 0;
};

TEST_F(ServerTest, ForwardsARequestAndKeepsBothConnections) {
  Upstream upstream("hello");
  start({});
  endpoints({{"backend", upstream.port()}});
  Client client(port);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ok(client.get("/a?b=c"), "hello"));
  EXPECT_EQ(upstream.connections(), 1);
  const std::string request = upstream.last_request();
  EXPECT_TRUE(request.starts_with("GET /a?b=c HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("X-Forwarded-For: 127.0.0.1\r\n"), std::string::npos) << request;
  EXPECT_EQ(server->stats().requests, 10u);
  // Counted once it was sent, which the client may learn first.
  while (server->stats().responses[2] < 10) std::this_thread::yield();
  EXPECT_EQ(server->stats().responses[2], 10u);
  EXPECT_EQ(server->stats().upstream_reused, 9u);
}

std::uint16_t port_of(int fd, int (*of)(int, sockaddr*, socklen_t*)) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  const bool known = of(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 && address.sin_family == AF_INET;
  return known ? ntohs(address.sin_port) : 0;
}

int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, level, name, &value, &size) == 0 ? value : -1;
}

// Nothing else finds a peer that vanished, where no time bounds the wait for it.
TEST_F(ServerTest, ProbesClientsAndEndpointsThatSayNothing) {
  Upstream upstream("hello");
  start({});
  endpoints({{"backend", upstream.port()}});
  Client client(port);
  ASSERT_TRUE(ok(client.get(), "hello"));
  int clients = 0;
  int upstreams = 0;
  constexpr int kMostFds = 1024;
  for (int fd = 0; fd < kMostFds; ++fd) {
    const std::uint16_t peer = port_of(fd, ::getpeername);
    const bool of_client = peer != 0 && port_of(fd, ::getsockname) == port;
    const bool of_upstream = peer == upstream.port();
    if (!of_client && !of_upstream) continue;
    EXPECT_EQ(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1) << (of_client ? "client" : "upstream");
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 60);
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPCNT), 4);
    EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), of_client ? 0 : 120'000);
    clients += of_client ? 1 : 0;
    upstreams += of_upstream ? 1 : 0;
  }
  EXPECT_EQ(clients, 1);
  EXPECT_EQ(upstreams, 1);
}

TEST_F(ServerTest, SaysSoWhenThereIsNoEndpoint) {
  start({});
  Client client(port);
  EXPECT_NE(client.get().find("X-Edge-Reason: no-endpoint\r\n"), std::string::npos);
  EXPECT_TRUE(client.get().starts_with("HTTP/1.1 503 ")) << "the connection stays";
}

TEST_F(ServerTest, ADeadPooledConnectionIsReplacedInSilence) {
  Upstream upstream("back");
  start({});
  endpoints({{"backend", upstream.port()}});
  Client client(port);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(ok(client.get(), "back")) << i;
    upstream.close_connections();
  }
}

TEST_F(ServerTest, AThousandSwapsUnderLoadLoseNoRequest) {
  Upstream blue("blue");
  Upstream green("green");
  TestProgram first;
  first.backends[0].name = "blue";
  TestProgram second;
  second.backends[0].name = "green";
  const auto programs = std::array{first.load(), second.load()};
  start(first, 2);
  endpoints({{"blue", blue.port()}, {"green", green.port()}});

  std::atomic<bool> stop{false};
  std::atomic<int> served{0};
  std::atomic<int> lost{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, reconnecting = i % 2 == 0] {
      auto client = std::make_unique<Client>(port);
      while (!stop) {
        const std::string response = client->get();
        ok(response, "blue") || ok(response, "green") ? ++served : ++lost;
        if (reconnecting) client = std::make_unique<Client>(port);
      }
    });
  }
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(server->install(programs[static_cast<std::size_t>(i % 2)]).ok());
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GT(served, 100);
  EXPECT_GT(blue.connections(), 0);
  EXPECT_GT(green.connections(), 0);
}

TEST_F(ServerTest, ABindThatGoesStopsAcceptingAndOneThatComesListens) {
  Upstream upstream("x");
  start({});
  endpoints({{"backend", upstream.port()}});
  Client kept(port);
  ASSERT_TRUE(ok(kept.get(), "x"));
  TestProgram moved;
  moved.port = 2;
  ASSERT_TRUE(server->install(moved.load()).ok());
  ASSERT_EQ(server->addresses().size(), 1u);
  const std::uint16_t now = server->addresses()[0].port;
  EXPECT_NE(now, port);
  EXPECT_FALSE(Client(port).connected());
  Client fresh(now);
  EXPECT_TRUE(ok(fresh.get(), "x"));
}

/// A port that nobody has, as far as can be said.
std::uint16_t free_port() { return Upstream("").port(); }

TEST_F(ServerTest, ATakenPortFailsAloneAndIsOpenedOnceItIsFree) {
  Upstream upstream("x");
  auto other = std::make_unique<Upstream>("another process");
  start_empty(2);
  TestProgram program;
  program.port = free_port();
  program.more_binds = {{"127.0.0.1", other->port()}};
  const Status status = server->install(program.load());
  ASSERT_TRUE(status.ok()) << status.error().text;
  endpoints({{"backend", upstream.port()}});
  ASSERT_EQ(server->addresses().size(), 1u);
  EXPECT_TRUE(ok(Client(program.port).get(), "x")) << "the other bind serves";
  ASSERT_EQ(server->unbound().size(), 1u);
  const UnboundListener unbound = server->unbound()[0];
  EXPECT_EQ(unbound.fault, ListenFault::kPort);
  EXPECT_EQ(unbound.listener, "http");
  EXPECT_EQ(unbound.gateway, "gateway");
  EXPECT_EQ(unbound.port, other->port());
  EXPECT_EQ(unbound.reason,
            "cannot listen on 127.0.0.1 port " + std::to_string(other->port()) + ": in use by another process");

  EXPECT_FALSE(server->recheck_listeners()) << "nothing changed";
  EXPECT_TRUE(server->install(TestProgram(program).load()).ok()) << "nor does it hold up the next program";
  const std::uint16_t port = other->port();
  other.reset();
  EXPECT_TRUE(server->recheck_listeners());
  EXPECT_TRUE(server->unbound().empty());
  EXPECT_TRUE(ok(Client(port).get(), "x"));
  EXPECT_EQ(server->addresses().size(), 2u);
}

TEST_F(ServerTest, AnAddressThatTheNodeLacksIsBoundAheadAndTold) {
  start_empty(1);
  TestProgram program;
  program.port = free_port();
  // Of TEST-NET-2 (RFC 5737).
  program.more_binds = {{"198.51.100.7", program.port}};
  ASSERT_TRUE(server->install(program.load()).ok());
  EXPECT_TRUE(Client(program.port).connected());
  EXPECT_EQ(server->addresses().size(), 2u);
  ASSERT_EQ(server->unbound().size(), 1u);
  EXPECT_EQ(server->unbound()[0].fault, ListenFault::kAddress);
  EXPECT_EQ(server->unbound()[0].reason, "listens on 198.51.100.7 port " + std::to_string(program.port) +
                                             " ahead: the node does not have this address");
  EXPECT_FALSE(server->recheck_listeners());
  EXPECT_EQ(server->unbound().size(), 1u);
  TestProgram without = program;
  without.more_binds.clear();
  ASSERT_TRUE(server->install(without.load()).ok());
  EXPECT_TRUE(server->unbound().empty());
}

TEST_F(ServerTest, WithoutDescriptorsClientsAreRefusedAndThatIsTold) {
  TestLog log;
  ServerOptions options;
  options.threads = 1;
  options.ephemeral_ports = true;
  options.log = log.logger();
  auto started = Server::start(options);
  ASSERT_TRUE(started.ok());
  server = std::move(*started);
  ASSERT_TRUE(server->install(TestProgram().load()).ok());
  const std::uint16_t port = server->addresses()[0].port;
  const int first = tcp_socket();
  const int second = tcp_socket();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  const int next = ::dup(first);
  ::close(next);
  none.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  for (const int fd : {first, second}) {
    const sockaddr_in address = loopback(port);
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    char byte;
    EXPECT_EQ(::recv(fd, &byte, 1, 0), -1);
    EXPECT_EQ(errno, ECONNRESET) << "refused, not left waiting";
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(server->stats().connections_refused, 2u);
  EXPECT_NE(log.text().find("out of file descriptors, clients are refused"), std::string::npos) << log.text();
  EXPECT_TRUE(Client(port).get().starts_with("HTTP/1.1 503 ")) << "it goes on";
  ::close(first);
  ::close(second);
}

TEST_F(ServerTest, OneAddressOfAPortComesBesideAnother) {
  start_empty(2);
  TestProgram program;
  program.port = free_port();
  ASSERT_TRUE(server->install(program.load()).ok());
  program.more_binds = {{"0.0.0.0", program.port}};
  ASSERT_TRUE(server->install(program.load()).ok());
  EXPECT_TRUE(server->unbound().empty());
  EXPECT_EQ(server->addresses().size(), 2u);
}

TEST_F(ServerTest, DrainEndsIdleConnectionsAndAnswersTheOthers) {
  Upstream upstream("x");
  start({});
  endpoints({{"backend", upstream.port()}});
  Client idle(port);
  ASSERT_TRUE(ok(idle.get(), "x"));
  Client busy(port);
  busy.send("GET / HTTP/1.1\r\nHost: a\r\n");
  std::atomic<bool> drained{false};
  std::thread drain([&] { drained = server->drain(seconds(10)); });
  EXPECT_EQ(idle.read(), "") << "closed";
  busy.send("\r\n");
  const std::string response = busy.read();
  EXPECT_NE(response.find("Connection: close\r\n"), std::string::npos) << response;
  EXPECT_EQ(busy.read(), "");
  drain.join();
  EXPECT_TRUE(drained);
  EXPECT_EQ(server->stats().connections_active, 0u);
}

/// \returns the answer to a request on a connection that was used just before the drain; empty: it was closed.
std::string answer_after_drain_began(Server& server, std::uint16_t port) {
  Client kept(port);
  if (kept.get().empty()) return {};
  std::thread drain([&] { server.drain(seconds(10)); });
  while (Client(port).connected()) std::this_thread::yield();
  std::string answer = kept.get();
  drain.join();
  return answer;
}

TEST_F(ServerTest, DrainAnswersTheNextRequestOfAConnectionThatWasJustUsed) {
  Upstream upstream("x");
  std::string answer;
  // It has a second, which a busy machine may take.
  for (int i = 0; i < 20 && answer.empty(); ++i) {
    start({});
    endpoints({{"backend", upstream.port()}});
    answer = answer_after_drain_began(*server, port);
  }
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
}

TEST_F(ServerTest, DrainIsOverWhenTheTimeIs) {
  start({});
  Client slow(port);
  slow.send("GET / HT");
  // Known to the server once it was counted.
  while (server->stats().connections_active == 0) std::this_thread::yield();
  EXPECT_FALSE(server->drain(milliseconds(50)));
  EXPECT_EQ(server->stats().connections_active, 0u);
}

TEST_F(ServerTest, FullBackendQueuesThenRefuses) {
  Upstream upstream("x");
  TestProgram program;
  program.backends[0].max_connections = 1;
  program.backends[0].max_pending = 100;
  start(program);
  endpoints({{"backend", upstream.port()}});
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&] {
      Client client(port);
      for (int n = 0; n < 50; ++n) good += ok(client.get(), "x") ? 1 : 0;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 400);
  EXPECT_EQ(upstream.connections(), 1);
}

TEST_F(ServerTest, ThreadsGiveEachOtherRoom) {
  Upstream upstream("x");
  TestProgram program;
  program.backends[0].max_connections = 2;
  program.backends[0].max_pending = 100;
  start(program, 4);
  endpoints({{"backend", upstream.port()}});
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&] {
      Client client(port);
      for (int n = 0; n < 25; ++n) good += ok(client.get(), "x") ? 1 : 0;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 400);
  const BackendStatus status = server->backends()[0];
  EXPECT_LE(status.connections, 2u);
  EXPECT_EQ(status.queued, 0u);
}

TEST_F(ServerTest, EndpointsThatComeAndGoUnderLoadLoseNoRequest) {
  Upstream one("one");
  Upstream two("two");
  start({}, 2);
  endpoints({{"backend", one.port()}});
  std::atomic<bool> stop{false};
  std::atomic<int> served{0};
  std::atomic<int> lost{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      Client client(port);
      while (!stop) {
        const std::string response = client.get();
        ok(response, "one") || ok(response, "two") ? ++served : ++lost;
      }
    });
  }
  for (int i = 0; i < 500; ++i) endpoints({{"backend", i % 2 == 0 ? two.port() : one.port()}});
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GT(served, 0);
}

}  // namespace
}  // namespace edge::runtime
