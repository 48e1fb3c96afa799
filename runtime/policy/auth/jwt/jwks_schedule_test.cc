#include "runtime/policy/auth/jwt/jwks_schedule.h"

#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

using namespace std::chrono_literals;

constexpr net::Time kStart = net::Time(1h);

TEST(Freshness, FollowsTheAnswer) {
  EXPECT_EQ(freshness("", "", "", ""), std::nullopt);
  EXPECT_EQ(freshness("max-age=300", "", "", ""), 300s);
  EXPECT_EQ(freshness("public, Max-Age=\"300\" , must-revalidate", "", "", ""), 300s);
  EXPECT_EQ(freshness("max-age=300", "", "", "100"), 200s);
  EXPECT_EQ(freshness("max-age=300", "", "", "400"), 0s);
  EXPECT_EQ(freshness("no-store, max-age=300", "", "", ""), 0s);
  EXPECT_EQ(freshness("no-cache", "", "", ""), 0s);
  EXPECT_EQ(freshness("private", "", "", ""), std::nullopt);
  EXPECT_EQ(freshness("max-age=x", "", "", ""), 0s);
  EXPECT_EQ(freshness("max-age=-5", "", "", ""), 0s);
  EXPECT_EQ(freshness("max-age=99999999999999999999999", "", "", ""), 366 * 24h);
}

TEST(Freshness, MaxAgeCountsBeforeExpires) {
  constexpr const char* kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
  constexpr const char* kLater = "Sun, 06 Nov 1994 08:59:37 GMT";
  EXPECT_EQ(freshness("", kLater, kDate, ""), 600s);
  EXPECT_EQ(freshness("max-age=5", kLater, kDate, ""), 5s);
  EXPECT_EQ(freshness("", kDate, kLater, ""), 0s);
  EXPECT_EQ(freshness("", "0", kDate, ""), 0s);
  EXPECT_EQ(freshness("", kLater, "", ""), 0s);
}

TEST(JwksSchedule, FetchesBeforeTheKeysAreOver) {
  JwksSchedule schedule;
  EXPECT_FALSE(schedule.usable(kStart));
  schedule.begin(kStart);
  schedule.succeed(kStart, 800s);
  EXPECT_EQ(schedule.next(), kStart + 700s);
  EXPECT_TRUE(schedule.usable(kStart + 800s));
}

TEST(JwksSchedule, WhatAnAnswerSaysIsBounded) {
  JwksSchedule schedule;
  schedule.succeed(kStart, 0s);
  EXPECT_EQ(schedule.next(), kStart + 52'500ms);
  schedule.succeed(kStart, 365 * 24h);
  EXPECT_EQ(schedule.next(), kStart + 21h);
  schedule.succeed(kStart, std::nullopt);
  EXPECT_EQ(schedule.next(), kStart + 525s);
}

TEST(JwksSchedule, TriesAgainEverMoreSlowly) {
  JwksSchedule schedule;
  net::Duration waits[8];
  for (net::Duration& wait : waits) {
    schedule.fail(kStart);
    wait = schedule.next() - kStart;
  }
  EXPECT_EQ(waits[0], 1s);
  EXPECT_EQ(waits[1], 2s);
  EXPECT_EQ(waits[5], 32s);
  EXPECT_EQ(waits[6], 60s);
  EXPECT_EQ(waits[7], 60s);
  schedule.succeed(kStart, std::nullopt);
  schedule.fail(kStart);
  EXPECT_EQ(schedule.next(), kStart + 1s);
}

TEST(JwksSchedule, TheLastGoodKeysOutliveAnOutageOfADay) {
  JwksSchedule schedule;
  schedule.succeed(kStart, 10min);
  schedule.fail(kStart + 9min);
  EXPECT_TRUE(schedule.usable(kStart + 24h + 10min - 1s));
  EXPECT_FALSE(schedule.usable(kStart + 24h + 10min));
}

TEST(JwksSchedule, UnknownKeysAreAskedForAtABoundedRate) {
  JwksSchedule schedule;
  schedule.begin(kStart);
  schedule.succeed(kStart, 10min);
  EXPECT_FALSE(schedule.may_ask(kStart + 9s));
  EXPECT_TRUE(schedule.may_ask(kStart + 10s));
  schedule.begin(kStart + 10s);
  schedule.succeed(kStart + 10s, 10min);
  EXPECT_FALSE(schedule.may_ask(kStart + 11s));
  // While the issuer is down, its own retries are all that it hears.
  schedule.begin(kStart + 20s);
  schedule.fail(kStart + 20s);
  EXPECT_FALSE(schedule.may_ask(kStart + 50s));
}

}  // namespace
}  // namespace edge::runtime::auth
