#include "net/client/resolver.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/os/file.h"
#include "net/socket.h"

namespace edge::net::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const IpAddress kOne = *parse_ip("192.0.2.1");

/// A loop on a thread of its own, as a worker has one.
class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  ~LoopThread() {
    loop_.stop();
    thread_.join();
  }
  Loop& loop() { return loop_; }

 private:
  Loop loop_;
  std::thread thread_;
};

/// What a number of lookups ended with.
class Results {
 public:
  void add(Resolver::Found found) {
    const std::lock_guard lock(mutex_);
    found_.push_back(std::move(found));
    changed_.notify_all();
  }
  std::vector<Resolver::Found> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return found_.size() >= count; });
    return found_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Resolver::Found> found_;
};

Detached look_up(Resolver& resolver, Loop& loop, std::shared_ptr<Waiter> waiter, std::string host, Time until,
                 Results& results) {
  Resolver::Found found = co_await resolver.resolve(loop, *waiter, host, until);
  results.add(std::move(found));
}

void ask(Resolver& resolver, LoopThread& thread, const std::string& host, Results& results,
         Duration patience = seconds(20)) {
  thread.loop().post([&, host, patience] {
    look_up(resolver, thread.loop(), std::make_shared<Waiter>(thread.loop()), host, thread.loop().now() + patience,
            results);
  });
}

/// A name server on 127.0.0.1 that knows one address of every name. Silent until it is opened: what comes before waits
/// in its socket.
class NameServer {
 public:
  explicit NameServer(std::uint32_t lifetime = 300) : lifetime_(lifetime) {
    socket_.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&here), size), 0);
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);
    port_ = ntohs(here.sin_port);
  }
  ~NameServer() {
    if (!thread_.joinable()) return;
    ::shutdown(socket_.get(), SHUT_RD);  // wakes recvfrom with nothing
    thread_.join();
  }
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  void open() {
    thread_ = std::thread([this] { run(); });
  }
  ResolverOptions options() const {
    ResolverOptions options;
    options.queries.servers = "127.0.0.1:" + std::to_string(port_);
    return options;
  }

  std::atomic<int> asked = 0;  ///< for addresses of IPv4
  std::atomic<bool> refuses = false;
  /// Names that were asked for, in order.
  std::vector<std::string> names() {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  void run() {
    std::array<char, 1024> query{};
    for (;;) {
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t length =
          ::recvfrom(socket_.get(), query.data(), query.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (length < 12) return;
      const std::string answer = answer_to({query.data(), static_cast<std::size_t>(length)});
      ::sendto(socket_.get(), answer.data(), answer.size(), 0, reinterpret_cast<const sockaddr*>(&from), size);
    }
  }

  /// RFC 1035 §4.1: header, the question, and a record that points to the question's name.
  std::string answer_to(std::string_view query) {
    const std::size_t type = query.find('\0', 12) + 1;
    const std::string_view question = query.substr(12, type + 4 - 12);
    const bool is_v4 = query[type + 1] == 1;
    if (is_v4) note(question);
    const bool found = is_v4 && !refuses;
    std::string out(query.substr(0, 2));
    out += '\x81';
    out += refuses ? '\x83' : '\x80';  // 3: there is no such name
    out += {0, 1, 0, static_cast<char>(found), 0, 0, 0, 0};
    out += question;
    if (!found) return out;
    out += {'\xc0', 12, 0, 1, 0, 1};
    for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(lifetime_ >> shift);
    return out += {0, 4, '\xc0', 0, 2, 1};
  }

  void note(std::string_view question) {
    const std::lock_guard lock(mutex_);
    std::string name;
    while (!question.empty() && question[0] != 0) {
      const auto length = static_cast<std::size_t>(question[0]);
      name.append(question.substr(1, length)).append(".");
      question.remove_prefix(1 + length);
    }
    names_.push_back(std::move(name));
    ++asked;
  }

  std::uint32_t lifetime_;
  std::mutex mutex_;
  std::vector<std::string> names_;
  Fd socket_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

TEST(Resolver, AnAddressIsItsOwn) {
  NameServer server;
  server.open();
  Resolver resolver(server.options());
  LoopThread thread;
  Results results;
  ask(resolver, thread, "192.0.2.1", results);
  EXPECT_EQ(results.wait(1)[0].addresses, std::vector{kOne});
  EXPECT_EQ(server.asked, 0);
}

TEST(Resolver, ManyWhoWantANameAskOnce) {
  NameServer server;
  Resolver resolver(server.options());
  LoopThread one;
  LoopThread two;
  Results results;
  for (int i = 0; i < 8; ++i) ask(resolver, i % 2 == 0 ? one : two, "a.example", results);
  server.open();
  for (const Resolver::Found& found : results.wait(8)) EXPECT_EQ(found.addresses, std::vector{kOne});
  EXPECT_EQ(server.asked, 1);
  ask(resolver, one, "a.example", results);
  results.wait(9);
  EXPECT_EQ(server.asked, 1) << "it is kept for its lifetime";
}

TEST(Resolver, AnAnswerWithoutALifetimeIsAskedForAgain) {
  NameServer server(0);
  server.open();
  ResolverOptions options = server.options();
  options.keep_least = seconds(0);
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example", results);
  results.wait(1);
  ask(resolver, thread, "a.example", results);
  EXPECT_EQ(results.wait(2)[1].addresses, std::vector{kOne}) << "what is over serves meanwhile";
  while (server.asked < 2) std::this_thread::yield();
}

TEST(Resolver, ALifetimeIsBounded) {
  NameServer server(300);
  server.open();
  ResolverOptions options = server.options();
  options.keep_least = options.keep_most = seconds(0);
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example", results);
  results.wait(1);
  ask(resolver, thread, "a.example", results);
  while (server.asked < 2) std::this_thread::yield();
  results.wait(2);
}

TEST(Resolver, AFailureIsKeptForAWhileToo) {
  NameServer server;
  server.refuses = true;
  server.open();
  Resolver resolver(server.options());
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example.", results);
  results.wait(1);
  ask(resolver, thread, "a.example.", results);
  for (const Resolver::Found& found : results.wait(2)) EXPECT_EQ(found.error, "Domain name not found");
  EXPECT_EQ(server.asked, 1);
}

TEST(Resolver, WhatIsOverServesUntilItIsKnownAnew) {
  NameServer server(0);
  server.open();
  ResolverOptions options = server.options();
  options.keep_least = options.keep_failure = seconds(0);
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example.", results);
  results.wait(1);
  server.refuses = true;
  ask(resolver, thread, "a.example.", results);
  while (server.asked < 2) std::this_thread::yield();
  ask(resolver, thread, "a.example.", results);
  for (const Resolver::Found& found : results.wait(3)) EXPECT_EQ(found.addresses, std::vector{kOne});
}

TEST(Resolver, ReadsItsConfigurationAgainWhenItChanges) {
  NameServer server;
  server.open();
  ResolverOptions options = server.options();
  options.queries.configuration = testing::TempDir() + "resolver-" + std::to_string(::getpid()) + ".conf";
  const auto search = [&](std::string_view list) {
    ASSERT_TRUE(write_file(options.queries.configuration, list, FileAccess::kEveryone));
  };
  search("search one.example\n");
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a", results);
  results.wait(1);
  search("search two.example\n");
  ask(resolver, thread, "b", results);
  results.wait(2);
  EXPECT_EQ(server.names(), (std::vector<std::string>{"a.one.example.", "b.two.example."}));
  std::filesystem::remove(options.queries.configuration);
}

TEST(Resolver, IsNotWaitedForWithoutEnd) {
  NameServer server;
  Resolver resolver(server.options());
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example", results, milliseconds(1));
  EXPECT_EQ(results.wait(1)[0].error, "no answer in time");
}

TEST(Resolver, ASilentNameServerIsGivenUp) {
  NameServer server;
  ResolverOptions options = server.options();
  options.queries.patience = milliseconds(1);
  options.queries.tries = 1;
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example.", results);
  EXPECT_EQ(results.wait(1)[0].error, "Timeout while contacting DNS servers");
}

TEST(Resolver, CancelsAtItsEndWhatIsAskedFor) {
  NameServer server;
  ResolverOptions options = server.options();
  options.queries.patience = std::chrono::hours(1);
  LoopThread thread;
  Results results;
  Resolver resolver(options);
  ask(resolver, thread, "a.example", results, milliseconds(1));
  EXPECT_EQ(results.wait(1)[0].error, "no answer in time");
}

TEST(Resolver, TakesSoManyNamesAtOnce) {
  NameServer server;
  ResolverOptions options = server.options();
  options.max_waiting = 2;
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  for (int i = 0; i < 3; ++i) ask(resolver, thread, std::to_string(i) + ".example", results);
  EXPECT_EQ(results.wait(1)[0].error, "too many names are asked for");
  server.open();
  results.wait(3);
}

TEST(Resolver, FindsThisMachine) {
  Resolver resolver;
  LoopThread thread;
  Results results;
  ask(resolver, thread, "localhost", results);
  EXPECT_FALSE(results.wait(1)[0].addresses.empty());
}

}  // namespace
}  // namespace edge::net::client
