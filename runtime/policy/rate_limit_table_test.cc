#include "runtime/policy/rate_limit_table.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
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

TEST(RateLimitTable, TakesExtremeSettings) {
  RateLimitTable table(64);
  EXPECT_FALSE(table.take(Rate(0, 5), 1, kFirst).passes) << "no rate at all";
  EXPECT_FALSE(table.take(Rate(5, 0), 2, kFirst).passes) << "no burst at all";
  EXPECT_TRUE(table.take(Rate(1, ~std::uint64_t{0}), 3, kFirst).passes);
  EXPECT_TRUE(table.take(Rate(~std::uint64_t{0}, ~std::uint64_t{0}), 4, kFirst).passes);
}

}  // namespace
}  // namespace edge::runtime
