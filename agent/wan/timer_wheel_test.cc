#include "agent/wan/timer_wheel.h"

#include <vector>

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TimerWheel, EntriesAreDueWithinAMillisecondAfterTheirTime) {
  TimerWheel<int> wheel(seconds(100));
  wheel.add(seconds(100) + microseconds(1500), 1);
  wheel.add(seconds(99), 2);
  EXPECT_EQ(wheel.take(seconds(100)), std::vector<int>());
  EXPECT_EQ(wheel.next(seconds(100), seconds(1)), seconds(100) + milliseconds(1));
  EXPECT_EQ(wheel.take(seconds(100) + milliseconds(1)), std::vector<int>{2}) << "what is late is due at once";
  EXPECT_EQ(wheel.next(seconds(100) + milliseconds(1), seconds(1)), seconds(100) + milliseconds(2));
  EXPECT_EQ(wheel.take(seconds(100) + milliseconds(2)), std::vector<int>{1});
  EXPECT_EQ(wheel.next(seconds(101), milliseconds(50)), seconds(101) + milliseconds(50));
}

TEST(TimerWheel, WhatIsFurtherAwayThanATurnGoesRound) {
  TimerWheel<int> wheel(seconds(0));
  wheel.add(seconds(5), 1);
  for (int i = 1; i < 5000; ++i) ASSERT_TRUE(wheel.take(milliseconds(i)).empty()) << i;
  EXPECT_EQ(wheel.take(seconds(5)), std::vector<int>{1});
}

TEST(TimerWheel, NothingIsMissedAfterALongPause) {
  TimerWheel<int> wheel(seconds(0));
  for (int i = 0; i < 2000; ++i) wheel.add(milliseconds(i), i);
  EXPECT_EQ(wheel.take(seconds(3600)).size(), 2000U);
}

}  // namespace
}  // namespace edge::agent::wan
