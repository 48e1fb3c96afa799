#include "runtime/session/sources.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

IpAddress ip(std::string_view text) { return parse_ip(text).value(); }

TEST(Sources, BoundsTheConnectionsOfAnAddress) {
  Sources sources;
  std::vector<Sources::Part> parts;
  for (int i = 0; i < 3; ++i) parts.push_back(sources.admit(0, ip("192.0.2.1"), 3).value());
  EXPECT_FALSE(sources.admit(0, ip("192.0.2.1"), 3));
  EXPECT_TRUE(sources.admit(0, ip("192.0.2.2"), 3)) << "another source";
  EXPECT_TRUE(sources.admit(1, ip("192.0.2.1"), 3)) << "another socket";
  parts.pop_back();
  EXPECT_TRUE(sources.admit(0, ip("192.0.2.1"), 3)) << "one has gone";
}

TEST(Sources, TakesANetworkOfIpv6ForOneSource) {
  Sources sources;
  const auto first = sources.admit(0, ip("2001:db8:1:2::1"), 1);
  EXPECT_FALSE(sources.admit(0, ip("2001:db8:1:2:ffff::9"), 1));
  EXPECT_TRUE(sources.admit(0, ip("2001:db8:1:3::1"), 1));
}

TEST(Sources, BoundsTheStreamsOfAllConnectionsTogether) {
  Sources sources;
  Sources::Part one = sources.admit(0, ip("192.0.2.1"), 10).value();
  Sources::Part other = sources.admit(0, ip("192.0.2.1"), 10).value();
  EXPECT_TRUE(one.admits(6, 10));
  EXPECT_TRUE(one.admits(2, 10)) << "fewer than it had";
  EXPECT_TRUE(other.admits(4, 10));
  EXPECT_FALSE(other.admits(5, 10));
  EXPECT_FALSE(one.admits(7, 10));
  one.rest();
  EXPECT_TRUE(other.admits(10, 10));
  EXPECT_FALSE(one.admits(1, 10));
  other = Sources::Part();
  EXPECT_TRUE(one.admits(10, 10)) << "what has gone has none";
  EXPECT_TRUE(one.admits(1000, 0)) << "no bound";
  EXPECT_TRUE(Sources::Part().admits(1000, 1)) << "not counted";
}

TEST(Sources, AreCountedByManyThreads) {
  Sources sources;
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        auto part = sources.admit(0, ip("192.0.2.1"), 4);
        if (!part || !part->admits(2, 8)) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0);
  auto all = sources.admit(0, ip("192.0.2.1"), 1);
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->admits(8, 8));
}

}  // namespace
}  // namespace edge::runtime
