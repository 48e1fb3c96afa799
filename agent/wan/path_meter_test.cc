#include "agent/wan/path_meter.h"

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A path and its reflector, whose clock is an hour ahead.
class Path {
 public:
  explicit Path(const ProbeSettings& settings = {}) : meter(settings), interval_(settings.interval) {}

  /// Sends a probe, which is answered after `forward` and `backward`.
  void answered(Time forward = milliseconds(10), Time backward = milliseconds(30)) {
    const std::uint32_t number = send();
    meter.answered({.number = number,
                    .arrived = now + forward + backward,
                    .reflector_received = now + forward + kAhead,
                    .reflector_sent = now + forward + kAhead,
                    .reflector_count = ++received_});
  }
  void lost_forward() { send(); }
  void lost_backward() {
    send();
    ++received_;
  }
  void reflector_restarts() { received_ = 0; }
  /// Waits until all outcomes are known.
  void wait() {
    now += seconds(1);
    meter.advance(now);
  }

  PathMeter meter;
  Time now = seconds(1);

 private:
  static constexpr Time kAhead = std::chrono::hours(1);

  std::uint32_t send() {
    now += interval_;
    meter.advance(now);
    return meter.sent(now);
  }

  Time interval_;
  std::uint32_t received_ = 0;
};

TEST(PathMeter, LatencyIsTheRoundTripWithoutTheReflector) {
  PathMeter meter({});
  const std::uint32_t number = meter.sent(seconds(1));
  EXPECT_TRUE(meter.answered({.number = number,
                              .arrived = seconds(1) + milliseconds(60),
                              .reflector_received = seconds(5),
                              .reflector_sent = seconds(5) + milliseconds(20)}));
  EXPECT_EQ(meter.quality().latency, milliseconds(40));
  EXPECT_FALSE(meter.quality().forward_loss);
}

TEST(PathMeter, LossIsKnownEachWay) {
  Path path;
  path.answered();
  for (int i = 0; i < 10; ++i) {
    path.answered();
    path.lost_forward();
    path.answered();
    path.lost_backward();
    path.lost_backward();
  }
  path.answered();
  path.wait();
  const Quality quality = path.meter.quality();
  EXPECT_EQ(quality.probes, 52U);
  EXPECT_EQ(quality.answered, 22U);
  EXPECT_DOUBLE_EQ(quality.loss, 30.0 / 52);
  EXPECT_DOUBLE_EQ(quality.forward_loss.value(), 10.0 / 51);
  EXPECT_DOUBLE_EQ(quality.backward_loss.value(), 20.0 / 41);
  EXPECT_LT(quality.loss_low, quality.loss);
  EXPECT_GT(quality.loss_high, quality.loss);
}

TEST(PathMeter, SixtyProbesCannotTellHalfAPercent) {
  Path path({.window = 60});
  for (int i = 0; i < 60; ++i) path.answered();
  EXPECT_EQ(path.meter.quality().loss, 0);
  EXPECT_GT(path.meter.quality().loss_high, 0.05);
}

TEST(PathMeter, AReflectorThatRestartsMakesTheDirectionUnknownNotWrong) {
  Path path;
  for (int i = 0; i < 10; ++i) path.answered();
  path.reflector_restarts();
  path.answered();
  path.wait();
  EXPECT_FALSE(path.meter.quality().forward_loss);
  EXPECT_EQ(path.meter.quality().loss, 0);
}

TEST(PathMeter, JitterIsKnownEachWay) {
  Path path;
  for (int i = 0; i < 100; ++i) path.answered(milliseconds(10 + i % 2 * 3), milliseconds(30));
  EXPECT_EQ(path.meter.quality().forward_jitter, milliseconds(3));
  EXPECT_EQ(path.meter.quality().backward_jitter, Time::zero());
  EXPECT_EQ(path.meter.quality().jitter, milliseconds(3));
}

TEST(PathMeter, QuantilesAreOfTheWindow) {
  Path path({.window = 100});
  for (int i = 0; i < 50; ++i) path.answered(seconds(0), milliseconds(400));
  for (int i = 1; i <= 100; ++i) path.answered(seconds(0), milliseconds(i));
  EXPECT_EQ(path.meter.quality().probes, 100U);
  EXPECT_NEAR(static_cast<double>(path.meter.quality().latency / microseconds(1)), 50'500, 500);
  EXPECT_NEAR(static_cast<double>(path.meter.quality().latency_p95 / microseconds(1)), 95'000, 500);
}

TEST(PathMeter, APathLivesAfterThreeAnswersAndIsDeadAfterThreeMissed) {
  Path path;
  EXPECT_FALSE(path.meter.alive());
  path.answered();
  const Time first = path.now;
  path.answered();
  EXPECT_FALSE(path.meter.alive());
  path.answered();
  EXPECT_TRUE(path.meter.alive());
  EXPECT_EQ(path.meter.alive_since(), first);

  for (int i = 0; i < 20; ++i) path.answered();
  path.lost_forward();
  const Time lost = path.now;
  path.lost_forward();
  path.lost_forward();
  EXPECT_TRUE(path.meter.alive());
  // It does not wait for the timeout of 500 ms: answers took 40 ms.
  path.meter.advance(path.now + milliseconds(110));
  EXPECT_FALSE(path.meter.alive());
  EXPECT_EQ(path.meter.alive_since(), lost);
}

TEST(PathMeter, TwoMissedInARowAreNoDeath) {
  Path path;
  for (int i = 0; i < 50; ++i) {
    path.answered();
    path.lost_forward();
    path.lost_backward();
  }
  for (int i = 0; i < 3; ++i) path.answered();
  EXPECT_TRUE(path.meter.alive());
}

TEST(PathMeter, OutcomesAreInTheOrderOfSending) {
  PathMeter meter({});
  const Time begin = seconds(1);
  for (int i = 0; i < 3; ++i) meter.sent(begin + i * milliseconds(100));
  const auto answer = [&](std::uint32_t number, Time latency) {
    const Time at = begin + number * milliseconds(100) + latency;
    return meter.answered({.number = number, .arrived = at, .reflector_received = at, .reflector_sent = at});
  };
  EXPECT_TRUE(answer(2, milliseconds(50)));
  EXPECT_TRUE(answer(1, milliseconds(80)));
  EXPECT_TRUE(meter.take_outcomes().empty());
  EXPECT_TRUE(answer(0, milliseconds(20)));
  const std::vector<Outcome> outcomes = meter.take_outcomes();
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_FALSE(outcomes[0].change);
  EXPECT_EQ(outcomes[1].change, milliseconds(60));
  EXPECT_EQ(outcomes[2].change, milliseconds(30));
  EXPECT_FALSE(answer(1, milliseconds(90))) << "a duplicate";
  EXPECT_FALSE(answer(7, milliseconds(90))) << "never sent";
}

TEST(PathMeter, AnAnswerAfterTheTimeoutIsALoss) {
  PathMeter meter({});
  const std::uint32_t number = meter.sent(seconds(1));
  meter.advance(seconds(1) + milliseconds(500));
  EXPECT_FALSE(meter.answered({.number = number, .arrived = seconds(1) + milliseconds(501)}));
  ASSERT_EQ(meter.take_outcomes().size(), 1U);
  EXPECT_EQ(meter.quality().loss, 1);
}

TEST(PathMeter, ProbesWithoutAnswersAreBounded) {
  PathMeter meter({.window = 2});
  for (int i = 0; i < 10'000; ++i) meter.sent(seconds(1));
  meter.advance(seconds(2));
  EXPECT_EQ(meter.quality().probes, 2U);
  EXPECT_FALSE(meter.alive());
}

}  // namespace
}  // namespace edge::agent::wan
