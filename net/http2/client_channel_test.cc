// Signs of life of a connection to a backend, by a clock that only moves when it is told to.
#include "net/http2/client_channel.h"

#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/http2/test_frames.h"

namespace edge::net::http2 {
namespace {

using namespace std::chrono_literals;
// The frames that every line of these tests is made of.
using namespace testing;

class Life : public ::testing::Test, public ClientChannel::Owner {
 protected:
  void SetUp() override {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()), 0);
    backend = Fd(pair[1]);
    channel->start({Fd(pair[0]), nullptr}, false);
    say(frame(kSettings, kNone, 0));
    turn();
  }
  void TearDown() override {
    sessions.clear();
    channel->shut();
    loop.retire(std::move(channel));
    turn();
  }
  void changed(ClientChannel&) override {}
  void ended(ClientChannel&) override { ++endings; }

  void turn() {
    for (int i = 0; i < 3; ++i) loop.poll();
  }
  void pass(Duration time) {
    clock.advance(time);
    turn();
  }
  void say(const std::string& bytes) {
    ASSERT_EQ(::send(backend.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void ask() {
    sessions.push_back(std::make_unique<Channel>());
    sessions.back()->open(loop, Transport{Fd(), channel->open_stream()});
    const std::string_view text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    EXPECT_EQ(sessions.back()->send({&piece, 1}).kind, Transfer::Kind::kDone);
    turn();
  }
  /// PINGs that came since the last call; what stands in the last one.
  int pings() {
    std::string all;
    std::array<char, 4096> bytes{};
    for (ssize_t got; (got = ::recv(backend.get(), bytes.data(), bytes.size(), 0)) > 0;) {
      all.append(bytes.data(), static_cast<std::size_t>(got));
    }
    if (all.starts_with("PRI ")) all.erase(0, 24);
    int count = 0;
    for (const Frame& one : frames_of(all)) {
      if (one.type != kPing || one.flags != kNone) continue;
      ++count;
      last_ping = one.payload;
    }
    return count;
  }

  ManualClock clock;
  Loop loop{&clock};
  ClientEngine engine{ClientSettings{}};
  std::unique_ptr<ClientChannel> channel = std::make_unique<ClientChannel>(loop, engine, *this);
  Fd backend;
  std::vector<std::unique_ptr<Channel>> sessions;
  std::string last_ping;
  int endings = 0;
};

TEST_F(Life, OneThatWasSilentIsAskedWithTheNextRequest) {
  ask();
  EXPECT_EQ(pings(), 0);
  pass(14s);
  ask();
  EXPECT_EQ(pings(), 0) << "it spoke 14 seconds ago";
  pass(2s);
  ask();
  EXPECT_EQ(pings(), 1);
  ask();
  EXPECT_EQ(pings(), 0) << "it is asked already";
  say(frame(kPing, kAck, 0, last_ping));
  pass(11s);
  EXPECT_EQ(endings, 0);
  EXPECT_TRUE(channel->room() > 0);
}

TEST_F(Life, WithoutAnAnswerItIsBroken) {
  pass(16s);
  ask();
  EXPECT_EQ(pings(), 1);
  pass(9s);
  EXPECT_EQ(endings, 0);
  pass(2s);
  EXPECT_EQ(endings, 1);
  EXPECT_TRUE(channel->closing());
}

TEST_F(Life, WhileRequestsWaitItIsAskedSeldom) {
  ask();
  pass(5min);
  EXPECT_EQ(pings(), 0);
  pass(31s);
  EXPECT_EQ(pings(), 1);
  say(frame(kPing, kAck, 0, last_ping));
  pass(11s);
  EXPECT_EQ(endings, 0);
  pass(6min);
  EXPECT_EQ(pings(), 1);
  pass(11s);
  EXPECT_EQ(endings, 1);
}

TEST_F(Life, NobodyWaitsAndNobodyAsks) {
  ask();
  sessions.clear();
  turn();
  pass(1h);
  EXPECT_EQ(pings(), 0);
  EXPECT_EQ(endings, 0);
}

}  // namespace
}  // namespace edge::net::http2
