#include "runtime/policy/rate_limit_table.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/hash.h"

namespace edge::runtime {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr net::Time kFirst{hours(24 * 365)};

/// The textbook's bucket, in exact numbers: tokens times requests a second.
class Reference {
 public:
  Reference(std::uint64_t rate, std::uint64_t burst) : rate_(rate), full_(kUnit * burst), level_(full_) {}

  bool take(net::Time now) {
    const auto passed = static_cast<unsigned __int128>((now - last_).count());
    last_ = now;
    level_ = std::min(full_, level_ + passed * rate_);
    if (level_ < kUnit) return false;
    level_ -= kUnit;
    return true;
  }

 private:
  static constexpr unsigned __int128 kUnit = 1'000'000'000;
  unsigned __int128 rate_;
  unsigned __int128 full_;
  unsigned __int128 level_;
  net::Time last_ = kFirst;
};

TEST(RateLimitTable, GivesABurstAndThenTheRate) {
  RateLimitTable table(1024);
  const Rate rate(10, 3);
  for (const std::uint64_t left : {2, 1, 0}) {
    const auto taken = table.take(rate, 7, kFirst);
    EXPECT_TRUE(taken.passes);
    EXPECT_EQ(taken.remaining, left);
  }
  const auto refused = table.take(rate, 7, kFirst);
  EXPECT_FALSE(refused.passes);
  EXPECT_EQ(refused.retry_after, milliseconds(100));
  EXPECT_EQ(refused.full_after, milliseconds(300));
  EXPECT_FALSE(table.take(rate, 7, kFirst + milliseconds(100) - nanoseconds(1)).passes);
  EXPECT_TRUE(table.take(rate, 7, kFirst + milliseconds(100)).passes);
  EXPECT_FALSE(table.take(rate, 7, kFirst + milliseconds(100)).passes);
  // A refusal costs nothing, and rest fills it to the burst and no further.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(table.take(rate, 7, kFirst + hours(1)).passes);
  EXPECT_FALSE(table.take(rate, 7, kFirst + hours(1)).passes);
}

TEST(RateLimitTable, AgreesWithTheTextbookAtRandomTimes) {
  std::mt19937_64 random(1);
  for (const auto [per_second, burst] : std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{
           {1, 1}, {2, 5}, {5, 1}, {10, 10}, {1000, 7}, {100'000, 100}, {1'000'000'000, 1}}) {
    RateLimitTable table(64);
    const Rate rate(per_second, burst);
    Reference reference(per_second, burst);
    net::Time now = kFirst;
    const std::uint64_t mean = 1'000'000'000 / per_second;
    for (int i = 0; i < 20'000; ++i) {
      now += nanoseconds(random() % (2 * mean + 1));
      ASSERT_EQ(table.take(rate, 1, now).passes, reference.take(now)) << per_second << "/s, request " << i;
    }
  }
}

TEST(RateLimitTable, NeverExceedsARateThatDividesNoSecond) {
  for (const std::uint64_t per_second : {3, 7, 999, 9'973}) {
    RateLimitTable table(64);
    const Rate rate(per_second, per_second);
    std::uint64_t passed = 0;
    constexpr std::uint64_t kSeconds = 100;
    for (net::Time now = kFirst; now < kFirst + seconds(kSeconds); now += microseconds(50)) {
      passed += table.take(rate, 1, now).passes ? 1 : 0;
    }
    EXPECT_LE(passed, per_second * (kSeconds + 1));
    EXPECT_GE(passed, per_second * (kSeconds + 1) - 1);
  }
}

// What several threads pass together is the burst, to the request, whatever their order.
TEST(RateLimitTable, ThreadsTogetherGetTheLimit) {
  constexpr std::uint64_t kKeys = 50;
  constexpr std::uint64_t kBurst = 100;
  RateLimitTable table(4096);
  const Rate rate(1, kBurst);
  std::vector<std::atomic<std::uint64_t>> passed(kKeys);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      // All bring in every key at once, and ask for twice its burst.
      for (std::uint64_t i = 0; i < kKeys * kBurst / 2; ++i) {
        const std::uint64_t key = (i + t) % kKeys;
        if (table.take(rate, hash_bytes(key, "key"), kFirst).passes) ++passed[key];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& count : passed) EXPECT_EQ(count, kBurst);
}

TEST(RateLimitTable, ForgetsTheOneThatRestedLongest) {
  RateLimitTable table(8);  // one set
  const Rate rate(1, 10);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 9; ++i) keys.push_back(hash_bytes(i, "key"));
  for (std::size_t i = 0; i < 8; ++i) {
    const net::Time now = kFirst + milliseconds(i);
    EXPECT_EQ(table.take(rate, keys[i], now).remaining, 9U);
    EXPECT_EQ(table.take(rate, keys[i], now).remaining, 8U);
  }
  EXPECT_EQ(table.take(rate, keys[0], kFirst + milliseconds(10)).remaining, 7U);
  EXPECT_EQ(table.take(rate, keys[8], kFirst + milliseconds(11)).remaining, 9U) << "takes the place of 1";
  EXPECT_EQ(table.take(rate, keys[0], kFirst + milliseconds(12)).remaining, 6U) << "was used after 1";
  EXPECT_EQ(table.take(rate, keys[2], kFirst + milliseconds(13)).remaining, 7U);
  EXPECT_EQ(table.take(rate, keys[1], kFirst + milliseconds(14)).remaining, 9U) << "was forgotten";
}

// Threads that crowd one another out of a small table: nothing to assert but that no count is wild; for
// ThreadSanitizer.
TEST(RateLimitTable, SurvivesCrowding) {
  RateLimitTable table(16);
  const Rate rate(1000, 4);
  std::atomic<std::uint64_t> odd = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int i = 0; i < 50'000; ++i) {
        const auto taken = table.take(rate, hash_bytes(random() % 200, "key"), kFirst + nanoseconds(i));
        if (taken.remaining > 3 || taken.retry_after > seconds(1)) ++odd;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(odd, 0U);
}

TEST(RateLimitTable, ADayIsExact) {
  for (const auto [requests, period, burst] : std::initializer_list<std::tuple<std::uint64_t, hours, std::uint64_t>>{
           {1, hours(24), 1}, {7, hours(24), 3}, {1'000, hours(24), 1'000}, {3'600, hours(1), 10}, {7, hours(1), 7}}) {
    RateLimitTable table(64);
    const Rate rate(requests, burst, period);
    const auto seconds_per_period = std::chrono::duration_cast<seconds>(period).count();
    std::uint64_t passed = 0;
    constexpr int kPeriods = 30;
    const nanoseconds step = nanoseconds(period) / static_cast<std::int64_t>(requests * 16);
    for (net::Time now = kFirst; now < kFirst + period * kPeriods; now += step) {
      passed += table.take(rate, 1, now).passes ? 1 : 0;
    }
    const std::uint64_t most = requests * kPeriods + burst;
    EXPECT_LE(passed, most) << requests << " in " << seconds_per_period;
    // The last of a step short of the end is not here yet; rounding costs less than one.
    EXPECT_GE(passed + 2, most) << requests << " in " << seconds_per_period;
  }
}

TEST(RateLimitTable, AClockThatGoesBackGivesNothingAway) {
  RateLimitTable table(64);
  const Rate rate(1, 3);
  const net::Time later = kFirst + hours(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(table.take(rate, 1, later).passes);
  EXPECT_FALSE(table.take(rate, 1, kFirst).passes);
  EXPECT_FALSE(table.look(rate, 1, kFirst).passes);
  EXPECT_FALSE(table.take(rate, 1, later).passes);
  EXPECT_TRUE(table.take(rate, 1, later + seconds(1)).passes) << "what was taken at the later time is not lost";
}

TEST(RateLimitTable, ALookTakesNothingAndATakeCanBeGivenBack) {
  RateLimitTable table(64);
  const Rate rate(1, 2);
  EXPECT_EQ(table.look(rate, 1, kFirst).remaining, 1U);
  EXPECT_EQ(table.take(rate, 1, kFirst).remaining, 1U);
  EXPECT_EQ(table.look(rate, 1, kFirst).remaining, 0U);
  EXPECT_EQ(table.take(rate, 1, kFirst).remaining, 0U);
  const auto refused = table.take(rate, 1, kFirst);
  const auto looked = table.look(rate, 1, kFirst);
  EXPECT_FALSE(looked.passes);
  EXPECT_EQ(looked.retry_after, refused.retry_after);
  EXPECT_EQ(looked.full_after, refused.full_after);
  table.give_back(rate, 1);
  EXPECT_TRUE(table.take(rate, 1, kFirst).passes);
  EXPECT_FALSE(table.take(rate, 1, kFirst).passes);
  table.give_back(rate, 2);
  EXPECT_EQ(table.look(rate, 2, kFirst).remaining, 1U) << "never taken";
}

// A client that makes up keys of one policy must not make others forget what it has used of them.
TEST(RateLimitTable, AFloodOfKeysOfOnePolicyLeavesTheOthers) {
  RateLimitTable table(1024);
  const Rate flooded(1, 1, hours(24), 1);
  const Rate other(1, 1, seconds(1), 2);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < 200; ++i) keys.push_back(hash_bytes(i, "other"));
  for (const std::uint64_t key : keys) EXPECT_TRUE(table.take(other, key, kFirst).passes);
  for (std::uint64_t i = 0; i < 100'000; ++i) table.take(flooded, hash_bytes(i, "flood"), kFirst);
  int remembered = 0;
  for (const std::uint64_t key : keys) remembered += table.take(other, key, kFirst).passes ? 0 : 1;
  EXPECT_EQ(remembered, 200);
}

TEST(RateLimitTable, TakesExtremeSettings) {
  RateLimitTable table(64);
  EXPECT_FALSE(table.take(Rate(0, 5), 1, kFirst).passes) << "no rate at all";
  EXPECT_FALSE(table.take(Rate(5, 0), 2, kFirst).passes) << "no burst at all";
  EXPECT_TRUE(table.take(Rate(1, ~std::uint64_t{0}), 3, kFirst).passes);
  EXPECT_TRUE(table.take(Rate(~std::uint64_t{0}, ~std::uint64_t{0}), 4, kFirst).passes);
}

}  // namespace
}  // namespace edge::runtime
