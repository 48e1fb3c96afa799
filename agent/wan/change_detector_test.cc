#include "agent/wan/change_detector.h"

#include <random>

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kInterval = milliseconds(100);
constexpr double kLimit = 0.005;

/// Trials of one rate, one an interval, from a seed.
class Trials {
 public:
  explicit Trials(unsigned seed) : random_(seed) {}

  /// Runs until `detector.beyond()` is `beyond`. \returns how many trials that took; nullopt: it was not within `most`.
  std::optional<int> until(ChangeDetector& detector, bool beyond, double rate, int most) {
    std::bernoulli_distribution bad(rate);
    for (int i = 0; i < most; ++i) {
      if (detector.beyond() == beyond) return i;
      detector.add(bad(random_), now += kInterval);
    }
    return std::nullopt;
  }

  Time now{};

 private:
  std::mt19937 random_;
};

TEST(ChangeDetector, AWeekWithinTheLimitIsNoChange) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    ChangeDetector detector(kLimit);
    EXPECT_FALSE(Trials(seed).until(detector, true, kLimit * 0.8, 7 * 864'000)) << seed;
  }
}

TEST(ChangeDetector, TheLargerTheExcessTheSoonerItIsFound) {
  const std::pair<double, int> kWithin[] = {{0.01, 30'000}, {0.05, 1'500}, {0.2, 150}, {0.9, 12}};
  for (const auto& [rate, most] : kWithin) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      ChangeDetector detector(kLimit);
      EXPECT_TRUE(Trials(seed).until(detector, true, rate, most)) << rate << ", seed " << seed;
    }
  }
}

TEST(ChangeDetector, NoSingleLossIsAChange) {
  ChangeDetector detector(kLimit);
  for (int i = 0; i < 4; ++i) detector.add(true, milliseconds(i));
  EXPECT_FALSE(detector.beyond());
}

TEST(ChangeDetector, SinceIsWhenTheChangeBegan) {
  Trials trials(1);
  ChangeDetector detector(kLimit);
  trials.until(detector, true, 0, 10'000);
  const Time worse = trials.now;
  ASSERT_TRUE(trials.until(detector, true, 0.2, 200));
  EXPECT_GE(detector.since(), worse);
  EXPECT_LT(detector.since() - worse, seconds(2));
  EXPECT_GT(trials.now - detector.since(), seconds(1));

  const Time better = trials.now;
  ASSERT_TRUE(trials.until(detector, false, 0, 200));
  EXPECT_LE(detector.since() - better, kInterval);
}

TEST(ChangeDetector, RecoveryFromALargeExcessIsFoundSoonFromASmallOneSurely) {
  Trials trials(2);
  ChangeDetector detector(kLimit);
  trials.until(detector, true, 0.2, 1'000);
  EXPECT_TRUE(trials.until(detector, false, 0, 120));

  // A link that stays at its limit does not recover from having been a little beyond it.
  trials.until(detector, true, 0.011, 100'000);
  ASSERT_TRUE(detector.beyond());
  EXPECT_FALSE(trials.until(detector, false, kLimit, 864'000));
  EXPECT_TRUE(trials.until(detector, false, 0, 10'000));
}

TEST(ChangeDetector, WhatIsForgottenIsNoEvidence) {
  ChangeDetector detector(kLimit);
  for (int i = 0; i < 12; ++i) {
    detector.add(true, milliseconds(i));
    if (i % 4 == 3) detector.forget();
  }
  EXPECT_FALSE(detector.beyond());
}

}  // namespace
}  // namespace edge::agent::wan
