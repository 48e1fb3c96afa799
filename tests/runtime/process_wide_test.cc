// What holds for the whole process however many threads serve: limits, and the promise of the balancers. Nothing here
// measures time: what is counted is requests.
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "net/clock.h"
#include "tests/support/connection.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

constexpr unsigned kThreads = 2;

/// When a request has to wait for its answer, and what is known of those that were answered.
class Pace {
 public:
  explicit Pace(int clients) : clients_(clients) {}

  void answered() {
    const std::lock_guard lock(mutex_);
    ++answers_;
    changed_.notify_all();
  }
  void client_done() {
    const std::lock_guard lock(mutex_);
    --clients_;
    changed_.notify_all();
  }
  /// Comes back when the others have had `answers` answers, or when every client that is left waits here.
  void wait_for_others(std::uint64_t answers) {
    std::unique_lock lock(mutex_);
    const std::uint64_t until = answers_ + answers;
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return answers_ >= until || waiting_ >= clients_; });
    --waiting_;
  }
  void wait_for_answers(std::uint64_t answers) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answers_ >= answers; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t answers_ = 0;
  int waiting_ = 0;
  int clients_;
};

/// Serves on a port of its own, a thread a connection.
class Endpoint {
 public:
  using Serve = std::function<void()>;
  /// `serve` is called between a request and its answer.
  Endpoint(Deadline deadline, Serve serve) : deadline_(deadline), serve_(std::move(serve)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 512);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~Endpoint() {
    acceptor_.join();
    for (std::thread& thread : threads_) thread.join();
    ::close(listener_);
  }
  std::uint16_t port() const { return port_; }
  std::uint64_t met() const { return met_; }

 private:
  void accept_all() {
    while (wait_for(listener_, POLLIN, deadline_)) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) threads_.emplace_back([this, fd] { answer(fd); });
    }
  }
  void answer(int fd) {
    Connection connection(fd, deadline_);
    while (connection.receive_head()) {
      ++met_;
      serve_();
      if (!connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) return;
    }
  }

  Deadline deadline_;
  Serve serve_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<std::uint64_t> met_{0};
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// A port of which every connection is refused, for as long as this lives.
class Refusing {
 public:
  Refusing() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Refusing() { ::close(socket_); }
  Refusing(const Refusing&) = delete;
  Refusing& operator=(const Refusing&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  int socket_;
  std::uint16_t port_ = 0;
};

class ProcessWide : public testing::Test {
 protected:
  void SetUp() override {
    runtime::ServerOptions options;
    options.threads = kThreads;
    options.ephemeral_ports = true;
    auto started = runtime::Server::start(options);
    ASSERT_TRUE(started.ok());
    server = std::move(*started);
  }
  void TearDown() override { aborted = true; }

  /// `dead`: an endpoint beside the others that refuses every connection; 0: none.
  void serve(const std::string& backend_line, std::uint16_t dead = 0) {
    std::map<std::string, std::uint16_t> ports;
    std::string names;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      const std::string name = "e" + std::to_string(i);
      ports[name] = endpoints[i]->port();
      names += (i == 0 ? "" : ",") + name;
    }
    if (dead != 0) {
      ports["dead"] = dead;
      names += ",dead";
    }
    std::string config =
        expand_config("@gateway\n@backend many=" + names + " " + backend_line + "\n@route many\n", ports);
    // Nobody is to be refused because the machine is busy.
    config.insert(config.find("  serviceRef:"), "  connectTimeout: 50s\n");
    const auto compiled = compile_text("test", config);
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    server->set_endpoints(compiled->endpoints);
    ASSERT_TRUE(server->install(compiled->program).ok());
  }
  /// Each of the clients, on a connection of its own, sends its requests one after the other. \returns answers of 200.
  int run_clients(int clients, int requests, Pace* pace = nullptr) {
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int c = 0; c < clients; ++c) {
      threads.emplace_back([&] {
        good += run_client(requests, pace);
        if (pace != nullptr) pace->client_done();
      });
    }
    for (std::thread& thread : threads) thread.join();
    return good;
  }
  int run_client(int requests, Pace* pace) {
    const auto fd = Connection::dial(server->addresses()[0].port);
    if (!fd) return 0;
    Connection connection(*fd, deadline());
    int good = 0;
    for (int n = 0; n < requests; ++n) {
      if (!connection.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")) break;
      const auto head = connection.receive_head();
      if (!head || !connection.receive_body(*head)) break;
      if (head->start_line.starts_with("HTTP/1.1 200")) ++good;
      if (pace != nullptr) pace->answered();
    }
    return good;
  }
  Deadline deadline() { return {end, &aborted}; }

  const std::chrono::steady_clock::time_point end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::atomic<bool> aborted{false};
  // The server goes first, so that its connections end before those who serve them are joined.
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::unique_ptr<runtime::Server> server;
};

// Half of the requests meet it first, many at one time: more than a budget for retries would ever allow.
TEST_F(ProcessWide, AnEndpointThatRefusesIsNotNoticedByAnyClient) {
  const Refusing refusing;
  endpoints.push_back(std::make_unique<Endpoint>(deadline(), [] {}));
  serve("retryPolicy: {numRetries: 2}", refusing.port());
  EXPECT_EQ(run_clients(64, 20), 64 * 20);
  const runtime::BackendStatus backend = server->backends().at(0);
  EXPECT_GT(backend.connect_failures, 0U);
  EXPECT_EQ(backend.retries, 0U) << "nothing was sent twice";
  EXPECT_EQ(backend.retries_refused, 0U);
}

TEST_F(ProcessWide, UnusedConnectionsAreBoundedOverAllThreadsAndEndpoints) {
  constexpr int kClients = 32;
  Pace pace(kClients);
  for (int i = 0; i < 4; ++i) {
    endpoints.push_back(std::make_unique<Endpoint>(deadline(), [&] { pace.wait_for_others(8); }));
  }
  serve("connectionPool: {maxIdleConns: 3}");
  EXPECT_EQ(run_clients(kClients, 2, &pace), kClients * 2);
  const runtime::BackendStatus backend = server->backends().at(0);
  EXPECT_GT(backend.connects, 3U);
  EXPECT_LE(backend.idle, 3U);
  EXPECT_GT(backend.idle, 0U);
}

TEST_F(ProcessWide, LimitsOfConnectionsHoldOverAllThreads) {
  std::atomic<int> under_way{0};
  std::atomic<int> most{0};
  endpoints.push_back(std::make_unique<Endpoint>(deadline(), [&] {
    const int now = ++under_way;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    --under_way;
  }));
  // One connection less than threads and one more; each time all requests are served, by whichever thread.
  for (const std::uint32_t limit : {1u, 2u, 3u}) {
    most = 0;
    serve("connectionLimits: {maxConnections: " + std::to_string(limit) + ", maxPendingRequests: 100}");
    EXPECT_EQ(run_clients(12, 100), 1200) << limit;
    EXPECT_LE(most, static_cast<int>(limit));
    EXPECT_LE(server->backends()[0].connections, limit);
    EXPECT_EQ(server->backends()[0].queued, 0u);
  }
}

TEST_F(ProcessWide, TheQueueIsBoundedOverAllThreads) {
  Pace pace(8);
  std::atomic<int> seen{0};
  endpoints.push_back(std::make_unique<Endpoint>(deadline(), [&] {
    // The first one stays until all who find no place were refused.
    if (++seen == 1) pace.wait_for_answers(4);
  }));
  serve("connectionLimits: {maxConnections: 1, maxPendingRequests: 3}");
  EXPECT_EQ(run_clients(8, 1, &pace), 4) << "one served, three waited";
  EXPECT_EQ(server->backends()[0].overflows, 4u);
}

/// Requests that meet an endpoint which answers one only when the others have given 1,000 answers. With a part of all
/// requests under a hundredth its slowness is beyond the 99th percentile.
class SlowEndpoint : public ProcessWide {
 protected:
  static constexpr int kClients = 12;
  static constexpr int kRequests = 400;

  double part_met_by(const std::string& policy) {
    Pace pace(kClients);
    endpoints.push_back(std::make_unique<Endpoint>(deadline(), [&] { pace.wait_for_others(1000); }));
    for (int i = 0; i < 3; ++i) endpoints.push_back(std::make_unique<Endpoint>(deadline(), [] {}));
    serve("lbPolicy: " + policy);
    EXPECT_EQ(run_clients(kClients, kRequests, &pace), kClients * kRequests);
    const double part = static_cast<double>(endpoints[0]->met()) / (kClients * kRequests);
    RecordProperty("part_" + policy, std::to_string(part));
    // Its connections end, and with them the threads that serve them.
    server.reset();
    aborted = true;
    endpoints.clear();
    return part;
  }
};

TEST_F(SlowEndpoint, GetsItsFullShareByRoundRobin) { EXPECT_NEAR(part_met_by("RoundRobin"), 0.25, 0.02); }
TEST_F(SlowEndpoint, GetsFewRequestsByEwma) { EXPECT_LT(part_met_by("EWMA"), 0.01); }
// These know of what is under way alone, of which a busy machine decides some: 0.003 to 0.021 were seen. A fifth of its
// full share is beyond chance.
TEST_F(SlowEndpoint, GetsFewRequestsByP2c) { EXPECT_LT(part_met_by("P2C"), 0.05); }
TEST_F(SlowEndpoint, GetsFewRequestsByLeastConn) { EXPECT_LT(part_met_by("LeastConn"), 0.05); }

/// What is shared of a limit ends with the last limit of scope Cluster, and is there again with the next.
TEST(SharedLimitShare, IsOneWhereNoLimitIsShared) {
  net::ManualClock clock;
  runtime::ServerOptions options;
  options.clock = &clock;
  options.ephemeral_ports = true;
  const auto server = runtime::Server::start(options).value();
  const auto install = [&](const std::string& policy) {
    const Result<Compiled> compiled =
        compile_text("shared", expand_config("@gateway\n@backend a\n@route a\n" + policy, {{"a", 9}}));
    ASSERT_TRUE(compiled.ok()) << compiled.error().text;
    ASSERT_TRUE(server->install(compiled->program));
  };
  const std::string shared =
      "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: rate, namespace: default}\n"
      "spec: {type: RateLimit, targetRef: {kind: ProxyRoute, name: route-1}, "
      "rateLimit: {requestsPerSecond: 9, scope: Cluster}}\n";
  install(shared);
  server->apply_shared_news({.seed = 9, .members = 3});
  EXPECT_EQ(server->shared_limits().share, 1U);
  clock.advance(runtime::SharedLimits::kContact + std::chrono::seconds(1));
  EXPECT_EQ(server->shared_limits().share, 3U) << "out of contact";
  install("");
  EXPECT_EQ(server->shared_limits().share, 1U);
  install(shared);
  EXPECT_EQ(server->shared_limits().share, 3U) << "nothing was heard of the others meanwhile";
}

}  // namespace
}  // namespace edge::test
