// Channels whose bytes pass a layer: over a socket, and in place of one.
#include "net/layer.h"

#include <sys/socket.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/loop.h"
#include "net/task.h"

namespace edge::net {
namespace {

/// Lends what it was given, two bytes at a time, and notes what is done to it.
class Memory final : public Layer {
 public:
  Memory(std::string& held, std::string& log) : held_(held), log_(log) {}
  ~Memory() override { log_ += "gone "; }
  Transfer receive(Channel&, std::span<char> into) override {
    if (held_.empty()) return {Transfer::Kind::kWouldBlock};
    const std::size_t size = std::min({held_.size(), into.size(), std::size_t{2}});
    held_.copy(into.data(), size);
    held_.erase(0, size);
    return {Transfer::Kind::kDone, size};
  }
  Transfer send(Channel&, std::span<const iovec> pieces) override {
    std::size_t size = 0;
    for (const iovec& one : pieces) size += one.iov_len;
    log_ += "sent" + std::to_string(size) + " ";
    return {Transfer::Kind::kDone, size};
  }
  bool finish(Channel&) override {
    log_ += "finish ";
    return true;
  }
  void reset(Channel&) override { log_ += "reset "; }

 private:
  std::string& held_;
  std::string& log_;
};

class Mark final : public Deferred {
 public:
  explicit Mark(std::string& log) : log_(log) {}

 private:
  void run_deferred() override { log_ += "deferred "; }
  std::string& log_;
};

Detached read_to_log(Loop& loop, Waiter& waiter, Channel& channel, Mark& mark, std::string& log) {
  Wake wake = co_await waiter.wait(kNever, channel, kRead);
  while (wake == Wake::kReady) {
    char bytes[8];
    const Transfer got = channel.receive(bytes);
    if (got.kind == Transfer::Kind::kDone) {
      log += std::string(bytes, got.bytes) + " ";
      loop.defer(mark);
      channel.defer();
    }
    wake = co_await waiter.wait(kNever, channel, kRead);
  }
}

class LayerTest : public testing::Test {
 protected:
  ~LayerTest() override { waiter.cancel(); }
  std::string held, log;
  ManualClock clock;
  Loop loop{&clock};
  Mark mark{log};
  Channel channel;
  Waiter waiter{loop};
};

TEST_F(LayerTest, AloneItWakesByItsOwnSignal) {
  channel.open(loop, Transport{{}, std::make_unique<Memory>(held, log)});
  EXPECT_TRUE(channel.is_open());
  char byte;
  EXPECT_EQ(channel.receive({&byte, 1}).kind, Transfer::Kind::kWouldBlock);
  EXPECT_FALSE(channel.readable());
  read_to_log(loop, waiter, channel, mark, log);
  loop.poll();
  held = "abc";
  channel.signal(kRead);
  EXPECT_EQ(log, "") << "nobody is resumed inside the signal";
  loop.poll();
  EXPECT_TRUE(log.starts_with("ab deferred ")) << log;
}

TEST_F(LayerTest, WhatItHoldsIsReportedAgainAfterADeferral) {
  held = "abcd";
  channel.open(loop, Transport{{}, std::make_unique<Memory>(held, log)});
  read_to_log(loop, waiter, channel, mark, log);
  for (int i = 0; i < 4; ++i) loop.poll();
  EXPECT_EQ(log, "ab deferred cd deferred ");
}

/// Frees another when its turn comes.
class Freeing final : public Channel {
 public:
  explicit Freeing(std::unique_ptr<Channel>& other) : other_(other) {}

 private:
  void unattended(std::uint8_t /*events*/) override { other_.reset(); }
  std::unique_ptr<Channel>& other_;
};

TEST_F(LayerTest, OneWhoseTurnWasPutOffMayBeFreedByAnotherOfThatTurn) {
  auto victim = std::make_unique<Channel>();
  Freeing first(victim);
  for (Channel* const one : {static_cast<Channel*>(&first), victim.get(), &channel}) {
    one->open(loop, Transport{{}, std::make_unique<Memory>(held, log)});
    one->defer();
  }
  loop.poll();
  EXPECT_EQ(victim, nullptr);
  EXPECT_TRUE(channel.readable()) << "those behind it have their turn";
}

TEST_F(LayerTest, ItsHangUpWakes) {
  channel.open(loop, Transport{{}, std::make_unique<Memory>(held, log)});
  EXPECT_EQ(channel.receive({}).kind, Transfer::Kind::kWouldBlock);
  channel.signal_hang_up();
  EXPECT_TRUE(channel.hung_up());
  EXPECT_TRUE(channel.readable());
}

TEST_F(LayerTest, MovesToAnotherChannelWithTheSocket) {
  int fds[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  const Fd far(fds[1]);
  held = "xy";
  channel.open(loop, Fd(fds[0]));
  channel.put(std::make_unique<Memory>(held, log));
  Channel next;
  next.open(loop, channel.release());
  EXPECT_FALSE(channel.is_open());
  EXPECT_TRUE(next.readable());
  char bytes[8];
  EXPECT_EQ(next.receive(bytes).bytes, 2U);
  next.finish();
  next.reset_on_close();
  next.close();
  EXPECT_EQ(log, "finish reset gone ");
}

TEST_F(LayerTest, ClosingForgetsADeferral) {
  held = "ab";
  channel.open(loop, Transport{{}, std::make_unique<Memory>(held, log)});
  channel.defer();
  channel.close();
  for (int i = 0; i < 3; ++i) loop.poll();
  EXPECT_EQ(log, "gone ");
}

}  // namespace
}  // namespace edge::net
