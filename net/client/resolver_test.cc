#include "net/client/resolver.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

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

/// A source of names that answers once it is let.
class Source {
 public:
  Result<std::vector<IpAddress>> operator()(const std::string&) {
    ++asked;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
    return answer;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  std::atomic<int> asked = 0;
  Result<std::vector<IpAddress>> answer = std::vector{kOne};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

ResolverOptions over(Source& source) {
  ResolverOptions options;
  options.lookup = [&](const std::string& host) { return source(host); };
  return options;
}

TEST(Resolver, AnAddressIsItsOwn) {
  Source source;
  Resolver resolver(over(source));
  LoopThread thread;
  Results results;
  ask(resolver, thread, "192.0.2.1", results);
  EXPECT_EQ(results.wait(1)[0].addresses, std::vector{kOne});
  EXPECT_EQ(source.asked, 0);
}

TEST(Resolver, ManyWhoWantANameAskOnce) {
  Source source;
  Resolver resolver(over(source));
  LoopThread one;
  LoopThread two;
  Results results;
  for (int i = 0; i < 8; ++i) ask(resolver, i % 2 == 0 ? one : two, "a.example", results);
  source.open();
  for (const Resolver::Found& found : results.wait(8)) EXPECT_EQ(found.addresses, std::vector{kOne});
  EXPECT_EQ(source.asked, 1);
  ask(resolver, one, "a.example", results);
  results.wait(9);
  EXPECT_EQ(source.asked, 1) << "it is kept";
}

TEST(Resolver, AFailureIsKeptForAWhileToo) {
  Source source;
  source.answer = Error{ErrorCode::kUnavailable, "gone"};
  source.open();
  Resolver resolver(over(source));
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example", results);
  results.wait(1);
  ask(resolver, thread, "a.example", results);
  for (const Resolver::Found& found : results.wait(2)) EXPECT_EQ(found.error, "gone");
  EXPECT_EQ(source.asked, 1);
}

TEST(Resolver, WhatIsOverServesUntilItIsKnownAnew) {
  Source source;
  source.open();
  ResolverOptions options = over(source);
  options.keep = seconds(0);
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example", results);
  results.wait(1);
  source.answer = Error{ErrorCode::kUnavailable, "gone"};
  ask(resolver, thread, "a.example", results);
  ask(resolver, thread, "a.example", results);
  for (const Resolver::Found& found : results.wait(3)) EXPECT_EQ(found.addresses, std::vector{kOne});
}

TEST(Resolver, IsNotWaitedForWithoutEnd) {
  Source source;
  Resolver resolver(over(source));
  LoopThread thread;
  Results results;
  ask(resolver, thread, "a.example", results, milliseconds(1));
  EXPECT_EQ(results.wait(1)[0].error, "no answer in time");
  source.open();
}

TEST(Resolver, EndsWhileANameHangs) {
  // Outlives the test's scope: who is asked holds on to it for as long as it hangs.
  const auto source = std::make_shared<Source>();
  ResolverOptions options;
  options.patience_at_end = milliseconds(0);
  options.lookup = [source](const std::string& host) { return (*source)(host); };
  const std::weak_ptr<Source> held = source;
  {
    LoopThread thread;
    Results results;
    Resolver resolver(options);
    ask(resolver, thread, "a.example", results, milliseconds(1));
    EXPECT_EQ(results.wait(1)[0].error, "no answer in time");
    // Nobody waits any more, but a thread may only now come to it; the end would have it not ask at all.
    while (source->asked == 0) std::this_thread::yield();
  }
  options.lookup = nullptr;
  EXPECT_GT(held.use_count(), 1) << "the thread is at it still";
  source->open();
  // The thread lets go of it as it ends.
  const auto deadline = std::chrono::steady_clock::now() + seconds(20);
  while (held.use_count() > 1 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Resolver, TakesSoManyNamesAtOnce) {
  Source source;
  ResolverOptions options = over(source);
  options.threads = 1;
  options.max_waiting = 2;
  Resolver resolver(options);
  LoopThread thread;
  Results results;
  // One may be with the thread already.
  for (int i = 0; i < 4; ++i) ask(resolver, thread, std::to_string(i) + ".example", results);
  EXPECT_EQ(results.wait(1)[0].error, "too many names are asked for");
  source.open();
  results.wait(4);
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
