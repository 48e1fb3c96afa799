// Ejection of one endpoint, by a clock that the test moves.
#include "runtime/upstream/health/outlier.h"

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr OutlierSettings kOutlier{.errors = 3, .server_errors = 2, .interval = seconds(10), .base_time = seconds(30)};

class OutlierTest : public testing::Test {
 protected:
  bool observe(RequestResult outcome, const OutlierSettings& settings = kOutlier) {
    return outlier.observe(outcome, settings, clock.now());
  }
  /// Ejects it and lets the time pass. \returns how long it took.
  net::Duration eject_and_wait() {
    outlier.eject(kOutlier, clock.now());
    const net::Duration time = outlier.ejected_until() - clock.now();
    clock.advance(time);
    EXPECT_TRUE(outlier.readmit(clock.now()));
    return time;
  }
  net::ManualClock clock;
  Outlier outlier;
};

TEST_F(OutlierTest, TheLastErrorOfTheRunIsTheOneThatEjects) {
  EXPECT_FALSE(observe(RequestResult::kNoAnswer));
  EXPECT_FALSE(observe(RequestResult::kNoAnswer));
  EXPECT_TRUE(observe(RequestResult::kNoAnswer));
}

TEST_F(OutlierTest, ASuccessBreaksTheRunAndWhatSaysNothingDoesNot) {
  observe(RequestResult::kNoAnswer);
  observe(RequestResult::kNoAnswer);
  EXPECT_FALSE(observe(RequestResult::kSuccess));
  EXPECT_EQ(outlier.run(), 0u);
  observe(RequestResult::kNoAnswer);
  observe(RequestResult::kNoAnswer);
  EXPECT_FALSE(observe(RequestResult::kUnknown));
  EXPECT_TRUE(observe(RequestResult::kNoAnswer));
}

TEST_F(OutlierTest, AnswersOf500AreCountedInBothRuns) {
  EXPECT_FALSE(observe(RequestResult::kServerError));
  EXPECT_TRUE(observe(RequestResult::kServerError)) << "consecutiveGatewayErrors";
}

TEST_F(OutlierTest, ARequestWithoutAnAnswerBreaksTheRunOf500sAlone) {
  observe(RequestResult::kServerError);
  EXPECT_FALSE(observe(RequestResult::kNoAnswer));
  EXPECT_TRUE(observe(RequestResult::kServerError)) << "the third error of any kind";
}

TEST_F(OutlierTest, AThresholdOfZeroIsNone) {
  const OutlierSettings none{.errors = 0, .server_errors = 0, .interval = seconds(10), .base_time = seconds(30)};
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(observe(RequestResult::kServerError, none));
}

TEST_F(OutlierTest, ErrorsThatLieFurtherApartThanTheIntervalAreNoRun) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(observe(RequestResult::kNoAnswer));
    clock.advance(seconds(10) + nanoseconds(1));
  }
  observe(RequestResult::kNoAnswer);
  clock.advance(seconds(10));
  observe(RequestResult::kNoAnswer);
  clock.advance(seconds(10));
  EXPECT_TRUE(observe(RequestResult::kNoAnswer)) << "just within it";
}

TEST_F(OutlierTest, IsReadmittedWhenTheTimeIsOver) {
  EXPECT_FALSE(outlier.readmit(clock.now()));
  outlier.eject(kOutlier, clock.now());
  EXPECT_TRUE(outlier.ejected());
  clock.advance(seconds(30) - nanoseconds(1));
  EXPECT_FALSE(outlier.readmit(clock.now()));
  EXPECT_FALSE(observe(RequestResult::kNoAnswer)) << "of requests that began before";
  clock.advance(nanoseconds(1));
  EXPECT_TRUE(outlier.readmit(clock.now()));
  EXPECT_FALSE(outlier.ejected());
  EXPECT_EQ(outlier.run(), 0u);
}

TEST_F(OutlierTest, EveryFurtherEjectionIsLongerUpToFiveMinutes) {
  for (int n = 1; n <= 10; ++n) EXPECT_EQ(eject_and_wait(), seconds(30) * n);
  EXPECT_EQ(eject_and_wait(), minutes(5));
  for (int n = 0; n < 100; ++n) EXPECT_EQ(eject_and_wait(), minutes(5));
}

TEST_F(OutlierTest, AnEjectionIsForgottenWithEachIntervalInUse) {
  for (int n = 0; n < 3; ++n) eject_and_wait();
  clock.advance(seconds(19));
  EXPECT_EQ(eject_and_wait(), seconds(30) * 3) << "one of three was forgotten";
  clock.advance(minutes(10));
  EXPECT_EQ(eject_and_wait(), seconds(30));
}

TEST_F(OutlierTest, ABaseTimeOverFiveMinutesHolds) {
  const OutlierSettings longer{.errors = 1, .server_errors = 0, .interval = seconds(1), .base_time = minutes(7)};
  outlier.eject(longer, clock.now());
  EXPECT_EQ(outlier.ejected_until() - clock.now(), minutes(7));
}

}  // namespace
}  // namespace edge::runtime
