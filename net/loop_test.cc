#include "net/loop.h"

#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/task.h"

namespace edge::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    near = Fd(fds[0]);
    far = Fd(fds[1]);
  }
  void say(std::string_view text) const { EXPECT_EQ(::write(far.get(), text.data(), text.size()), std::ssize(text)); }
  Fd near, far;
};

class LoopTest : public testing::Test {
 protected:
  void settle() {
    for (int i = 0; i < 4; ++i) loop.poll();
  }
  void pass(Duration by) {
    clock.advance(by);
    settle();
  }
  ManualClock clock;
  Loop loop{&clock};
  Waiter waiter{loop};
  std::vector<Wake> wakes;
};

Detached wait_once(Waiter& waiter, Time deadline, Channel& channel, std::vector<Wake>& wakes) {
  const Wake wake = co_await waiter.wait(deadline, channel, kRead);
  wakes.push_back(wake);
}

Detached wait_either(Waiter& waiter, Channel& one, Channel& two, std::vector<Wake>& wakes) {
  const Wake wake = co_await waiter.wait(kNever, one, kRead, two, kRead | kWrite);
  wakes.push_back(wake);
}

Detached wait_alone(Waiter& waiter, Time deadline, std::vector<Wake>& wakes) {
  const Wake first = co_await waiter.wait(deadline);
  wakes.push_back(first);
  const Wake second = co_await waiter.wait(deadline);
  wakes.push_back(second);
}

std::string read_all(Channel& channel) {
  char buffer[64];
  const Transfer got = channel.receive(buffer);
  return got.kind == Transfer::Kind::kDone ? std::string(buffer, got.bytes) : std::string();
}

TEST_F(LoopTest, WakesWhenThereIsSomethingToRead) {
  Pair pair;
  Channel channel;
  channel.open(loop, std::move(pair.near));
  wait_once(waiter, kNever, channel, wakes);
  settle();
  EXPECT_TRUE(wakes.empty());
  pair.say("hello");
  settle();
  ASSERT_EQ(wakes, std::vector{Wake::kReady});
  EXPECT_TRUE(channel.readable());
  EXPECT_EQ(read_all(channel), "hello");
  EXPECT_FALSE(channel.readable());
}

TEST_F(LoopTest, RemembersWhatCameWhileNobodyWaited) {
  Pair pair;
  Channel channel;
  channel.open(loop, std::move(pair.near));
  pair.say("early");
  settle();
  wait_once(waiter, kNever, channel, wakes);
  ASSERT_EQ(wakes, std::vector{Wake::kReady});
  EXPECT_EQ(read_all(channel), "early");
  // The interest that was dropped is taken up again.
  wait_once(waiter, kNever, channel, wakes);
  pair.say("late");
  settle();
  ASSERT_EQ(wakes.size(), 2u);
  EXPECT_EQ(read_all(channel), "late");
}

TEST_F(LoopTest, ADeadlineEndsTheWait) {
  Pair pair;
  Channel channel;
  channel.open(loop, std::move(pair.near));
  wait_once(waiter, clock.now() + seconds(2), channel, wakes);
  pass(seconds(1));
  EXPECT_TRUE(wakes.empty());
  pass(seconds(1) + milliseconds(8));
  EXPECT_EQ(wakes, std::vector{Wake::kTimeout});
  pair.say("too late");
  settle();
  EXPECT_EQ(wakes.size(), 1u);
}

TEST_F(LoopTest, WaitsForTwoDescriptors) {
  Pair a, b;
  Channel one, two;
  one.open(loop, std::move(a.near));
  two.open(loop, std::move(b.near));
  wait_either(waiter, one, two, wakes);
  settle();
  EXPECT_EQ(wakes, std::vector{Wake::kReady}) << "an empty socket can be written";
  wait_either(waiter, two, one, wakes);
  settle();
  EXPECT_EQ(wakes.size(), 2u);
}

TEST_F(LoopTest, AHangUpWakesWhateverIsWaitedFor) {
  Pair pair;
  Channel channel;
  channel.open(loop, std::move(pair.near));
  settle();
  pair.far.reset();
  settle();
  wait_once(waiter, kNever, channel, wakes);
  EXPECT_EQ(wakes, std::vector{Wake::kReady});
  char buffer[8];
  EXPECT_EQ(channel.receive(buffer).kind, Transfer::Kind::kEnd);
}

// An edge is told once: what a session does not use up must not be lost.
TEST_F(LoopTest, AnEndThatCameWithBytesIsSeenAfterThem) {
  Pair pair;
  Channel channel;
  channel.open(loop, std::move(pair.near));
  pair.say("last words");
  ASSERT_EQ(::shutdown(pair.far.get(), SHUT_WR), 0);
  settle();
  EXPECT_EQ(read_all(channel), "last words");
  wait_once(waiter, kNever, channel, wakes);
  ASSERT_EQ(wakes, std::vector{Wake::kReady});
  char buffer[8];
  EXPECT_EQ(channel.receive(buffer).kind, Transfer::Kind::kEnd);
}

// As a process has it that is being started, until it runs its own program.
TEST_F(LoopTest, AClosedSocketThatAnotherProcessHoldsTellsNothing) {
  Pair first;
  Pair second;
  Channel channel;
  const Fd shared(::dup(first.near.get()));
  channel.open(loop, std::move(first.near));
  channel.close();
  channel.open(loop, std::move(second.near));
  first.say("for nobody");
  settle();
  EXPECT_FALSE(channel.readable());
  second.say("for us");
  settle();
  EXPECT_TRUE(channel.readable());
}

/// Does its work when something comes that nobody waits for.
class Reacting final : public Channel {
 public:
  explicit Reacting(std::function<void()> work) : work_(std::move(work)) {}

 private:
  void unattended(std::uint8_t /*events*/) override { work_(); }
  std::function<void()> work_;
};

// Whichever of the two is told first frees the other and puts a new one in its place, as an allocator does.
TEST_F(LoopTest, AnEventOfThisBatchDoesNotReachAChannelThatWasFreedInIt) {
  Pair a, b, fresh;
  int reported = 0;
  std::optional<Reacting> one, two;
  const auto replace = [&](std::optional<Reacting>& other) {
    if (++reported > 1) return;
    other.reset();
    other.emplace([&] { ++reported; }).open(loop, std::move(fresh.near));
  };
  one.emplace([&] { replace(two); }).open(loop, std::move(a.near));
  two.emplace([&] { replace(one); }).open(loop, std::move(b.near));
  a.say("both");
  b.say("at once");
  settle();
  EXPECT_EQ(reported, 1);
  EXPECT_NE(one->readable(), two->readable());
  fresh.say("for the new one");
  settle();
  EXPECT_EQ(reported, 2);
}

TEST_F(LoopTest, WhatIsDeferredIsReportedAgain) {
  Pair pair;
  Channel channel;
  channel.open(loop, std::move(pair.near));
  pair.say("much");
  settle();
  char one;
  EXPECT_EQ(channel.receive({&one, 1}).kind, Transfer::Kind::kDone);
  channel.defer();
  wait_once(waiter, kNever, channel, wakes);
  EXPECT_TRUE(wakes.empty());
  settle();
  EXPECT_EQ(wakes, std::vector{Wake::kReady});
  EXPECT_EQ(read_all(channel), "uch");
}

TEST_F(LoopTest, RoomForWritingThatCameDuringAnotherWaitIsRemembered) {
  Pair pair;
  Channel channel;
  channel.open(loop, std::move(pair.near), kRead | kWrite);
  settle();
  const std::string block(64 * 1024, 'x');
  const iovec piece{const_cast<char*>(block.data()), block.size()};
  while (channel.send({&piece, 1}).kind == Transfer::Kind::kDone) {
  }
  wait_once(waiter, kNever, channel, wakes);
  std::vector<char> taken(1024 * 1024);
  while (::read(pair.far.get(), taken.data(), taken.size()) > 0) {
  }
  pair.say("answer");
  settle();
  ASSERT_EQ(wakes, std::vector{Wake::kReady});
  Pair idle;
  Channel other;
  other.open(loop, std::move(idle.near));
  wait_either(waiter, other, channel, wakes);
  EXPECT_EQ(wakes.size(), 2u);
}

TEST_F(LoopTest, CancelEndsThisWaitAndEveryLaterOne) {
  wait_alone(waiter, kNever, wakes);
  EXPECT_TRUE(waiter.waiting());
  waiter.cancel();
  EXPECT_EQ(wakes, (std::vector{Wake::kCancelled, Wake::kCancelled}));
}

TEST_F(LoopTest, RetiredObjectsOutliveTheBatch) {
  static int alive = 0;
  struct Counted : Retirable {
    Counted() { ++alive; }
    ~Counted() override { --alive; }
  };
  loop.retire(std::make_unique<Counted>());
  EXPECT_EQ(alive, 1);
  settle();
  EXPECT_EQ(alive, 0);
}

TEST(Loop, PostRunsOnTheLoopsThread) {
  Loop loop;
  std::thread::id ran;
  std::thread thread([&] { loop.run(); });
  loop.post([&] {
    ran = std::this_thread::get_id();
    loop.stop();
  });
  const std::thread::id expected = thread.get_id();
  thread.join();
  EXPECT_EQ(ran, expected);
}

TEST(Loop, ServesRealTimeDeadlines) {
  Loop loop;
  Waiter waiter(loop);
  std::vector<Wake> wakes;
  struct Run {
    static Detached go(Loop& l, Waiter& w, std::vector<Wake>& out) {
      const Wake wake = co_await w.wait(l.now() + milliseconds(20));
      out.push_back(wake);
      l.stop();
    }
  };
  loop.post([&] { Run::go(loop, waiter, wakes); });
  loop.run();
  EXPECT_EQ(wakes, std::vector{Wake::kTimeout});
}

TEST(Socket, ListensConnectsAndAccepts) {
  Result<Fd> listener = listen_tcp(std::nullopt, 0);
  ASSERT_TRUE(listener.ok());
  SocketAddress to = local_address(listener->get());
  to.address = *parse_ip("127.0.0.1");
  Result<Fd> client = connect_tcp(to);
  ASSERT_TRUE(client.ok()) << client.error().text;
  SocketAddress peer;
  int error = 0;
  const Fd accepted = accept_tcp(listener->get(), peer, error);
  ASSERT_TRUE(accepted.valid()) << error;
  EXPECT_EQ(connect_error(client->get()), 0);
  EXPECT_EQ(peer.address, to.address);
  EXPECT_EQ(peer.port, local_address(client->get()).port);
}

}  // namespace
}  // namespace edge::net
