#include "runtime/policy/shared_limits.h"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr net::Time kBegin{std::chrono::hours(1)};
constexpr std::uint64_t kSharedLimit = 7;
constexpr std::uint64_t kSharedKey = 0x1234'5678'9abc'def0;

class Shared : public ::testing::Test {
 protected:
  Shared() { shared_.set({{kSharedLimit, rate_}}); }

  SharedNews news(std::uint32_t requests, std::uint32_t members = 3, std::uint64_t limit = kSharedLimit) const {
    return {99, members, {{limit, kSharedKey, requests}}};
  }
  std::uint64_t left(net::Time now) {
    const auto found = table_.look(rate_, kSharedKey, now);
    return found.passes ? found.remaining + 1 : 0;
  }

  const Rate rate_{10, 10};
  SharedLimits shared_;
  RateLimitTable table_{64};
};

TEST_F(Shared, AloneNothingIsCountedForOthers) {
  shared_.note(kSharedLimit, kSharedKey, kBegin);
  EXPECT_TRUE(shared_.take(10).empty());
  EXPECT_EQ(shared_.share(kBegin + std::chrono::hours(1)), 1U);
}

TEST_F(Shared, TellsWhatHasPassedOnce) {
  shared_.apply({99, 2, {}}, kBegin, table_);
  EXPECT_EQ(shared_.seed(), 99U);
  for (int i = 0; i < 3; ++i) shared_.note(kSharedLimit, kSharedKey, kBegin);
  shared_.note(kSharedLimit, kSharedKey + (std::uint64_t{1} << 32), kBegin);
  std::vector<SharedUse> taken = shared_.take(1);
  ASSERT_EQ(taken.size(), 1U);
  for (const SharedUse& use : shared_.take(10)) taken.push_back(use);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].requests + taken[1].requests, 4U);
  EXPECT_TRUE(shared_.take(10).empty());
}

TEST_F(Shared, WhatPassedElsewhereIsChargedAndOwed) {
  shared_.apply(news(4), kBegin, table_);
  EXPECT_EQ(left(kBegin), 6U);
  shared_.apply(news(11), kBegin, table_);
  EXPECT_EQ(left(kBegin), 0U);
  EXPECT_EQ(left(kBegin + milliseconds(500)), 0U) << "five are owed";
  EXPECT_EQ(left(kBegin + milliseconds(600)), 1U);
  EXPECT_EQ(left(kBegin + seconds(2)), 10U);
}

TEST_F(Shared, WhoTellsTooMuchIsBounded) {
  shared_.apply(news(~std::uint32_t{0}), kBegin, table_);
  // Three agents, each ten at once and thirty in three seconds: twelve seconds until the bucket is full.
  EXPECT_EQ(left(kBegin + seconds(12) - milliseconds(901)), 0U);
  EXPECT_EQ(left(kBegin + seconds(12)), 10U);
  shared_.apply({0, ~std::uint32_t{0}, {{kSharedLimit + 1, kSharedKey, 5}, {kSharedLimit, kSharedKey, 0}}},
                kBegin + seconds(20), table_);
  EXPECT_EQ(left(kBegin + seconds(20)), 10U) << "another limit, and none";
  EXPECT_EQ(shared_.seed(), 99U) << "none was told";
  EXPECT_EQ(shared_.share(kBegin + seconds(30)), SharedLimits::kMostMembers);
}

TEST_F(Shared, OutOfContactEachHasItsShare) {
  shared_.apply({99, 4, {}}, kBegin, table_);
  EXPECT_EQ(shared_.share(kBegin + SharedLimits::kContact), 1U);
  const net::Time later = kBegin + SharedLimits::kContact + milliseconds(1);
  EXPECT_EQ(shared_.share(later), 4U);
  shared_.note(kSharedLimit, kSharedKey, later);
  EXPECT_TRUE(shared_.take(10).empty()) << "it is within the share: nobody else is charged";
  const Rate part = rate_.part(4);
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += table_.take(part, kSharedKey, later).passes ? 1 : 0;
  EXPECT_EQ(passed, 2) << "of ten, two and a half";
  for (net::Time now = later; now < later + seconds(40); now += milliseconds(50)) {
    passed += table_.take(part, kSharedKey, now).passes ? 1 : 0;
  }
  EXPECT_EQ(passed, 2 + 100);
  const Rate rare(1, 1, std::chrono::hours(24));
  EXPECT_TRUE(table_.take(rare.part(100), 5, kBegin).passes) << "at least one";
  EXPECT_FALSE(table_.take(rare.part(100), 5, kBegin + std::chrono::hours(24)).passes);
}

TEST_F(Shared, KeysBeyondTheBoundStayWithThisAgent) {
  shared_.apply({99, 2, {}}, kBegin, table_);
  constexpr std::uint64_t kKeys = SharedLimits::kMostPending * 2;
  for (std::uint64_t i = 0; i < kKeys; ++i) shared_.note(kSharedLimit, i << 32 | i, kBegin);
  EXPECT_EQ(shared_.untold(), kKeys - SharedLimits::kMostPending);
  EXPECT_EQ(shared_.take(kKeys).size(), SharedLimits::kMostPending);
}

}  // namespace
}  // namespace edge::runtime
