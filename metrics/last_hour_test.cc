#include "metrics/last_hour.h"

#include <gtest/gtest.h>

namespace edge::metrics {
namespace {

using Clock = LastHour::Clock;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Clock::time_point kStart{std::chrono::hours(1000)};

TrafficCounts answered(std::uint64_t count, std::size_t code = 2, std::size_t bucket = 0) {
  TrafficCounts counts;
  counts.by_class[code] = count;
  counts.durations[bucket] = count;
  counts.response_bytes = count * 100;
  return counts;
}

TrafficReading reading(std::uint64_t cart, std::uint64_t other = 0) {
  TrafficReading now;
  now.rows[{"d/gw", "d/cart", "d/be"}] = answered(cart);
  if (other != 0) now.rows[{"d/gw", "d/other", "d/be"}] = answered(other, 5);
  now.backends["d/be"].retries = cart / 10;
  now.connections = cart;
  now.cpu_seconds = static_cast<double>(cart) / 1000;
  return now;
}

/// A request every 100 ms, from the start on.
struct Steady {
  LastHour hour{reading(0), kStart};
  Clock::time_point now = kStart;
  std::uint64_t count = 0;

  void pass(Clock::duration time) {
    const auto end = now + time;
    while (now + LastHour::kStep <= end) {
      now += LastHour::kStep;
      count = static_cast<std::uint64_t>((now - kStart) / milliseconds(100));
      hour.record(reading(count), now);
    }
    now = end;
    count = static_cast<std::uint64_t>((now - kStart) / milliseconds(100));
  }
  double rate(Clock::duration window) const {
    const TrafficSpan span = hour.span(reading(count), now, window);
    return static_cast<double>(span.total.requests()) / std::chrono::duration<double>(span.covered).count();
  }
};

TEST(LastHour, TellsTheRateFromTheFirstMomentOn) {
  Steady steady;
  steady.pass(milliseconds(700));
  EXPECT_NEAR(steady.rate(minutes(5)), 10, 0.01);
  steady.pass(seconds(3));
  EXPECT_NEAR(steady.rate(minutes(5)), 10, 0.01);
  EXPECT_NEAR(steady.rate(seconds(1)), 10, 0.01);
}

TEST(LastHour, TellsEveryWindowUpToAnHour) {
  Steady steady;
  steady.pass(minutes(90) + milliseconds(1300));
  for (const Clock::duration window :
       {Clock::duration(seconds(5)), Clock::duration(seconds(47)), Clock::duration(minutes(5)),
        Clock::duration(minutes(6)), Clock::duration(minutes(30)), Clock::duration(minutes(60))}) {
    const TrafficSpan span = steady.hour.span(reading(steady.count), steady.now, window);
    EXPECT_GE(span.covered, window);
    EXPECT_LE(span.covered, window + minutes(1) + seconds(10));
    EXPECT_NEAR(steady.rate(window), 10, 0.01);
    EXPECT_NEAR(span.cpu_seconds / std::chrono::duration<double>(span.covered).count(), 0.01, 0.001);
    EXPECT_NEAR(
        static_cast<double>(span.backends.at("d/be").retries) / std::chrono::duration<double>(span.covered).count(), 1,
        0.05);
  }
  // Longer than is kept: as much as is.
  EXPECT_LE(steady.hour.span(reading(steady.count), steady.now, std::chrono::hours(5)).covered, minutes(62));
  EXPECT_NEAR(steady.rate(std::chrono::hours(5)), 10, 0.01);
}

TEST(LastHour, ALineHasItsPointsInOrderAndCountsEachRequestOnce) {
  Steady steady;
  steady.pass(minutes(40));
  const LastHour::Line line{.range = minutes(60), .points = 60};
  const auto points = steady.hour.line(line, reading(steady.count), steady.now);
  ASSERT_EQ(points.size(), 60u);
  std::uint64_t sum = 0;
  for (const TrafficPoint& point : points) sum += point.counts.requests();
  EXPECT_EQ(sum, steady.count);
  EXPECT_EQ(points.front().covered, Clock::duration::zero());
  EXPECT_EQ(points.back().ago, Clock::duration::zero());
  EXPECT_EQ(points.back().covered, minutes(1));
  EXPECT_EQ(points.back().counts.requests(), 600u);
  EXPECT_EQ(points.back().connections, steady.count);
}

TEST(LastHour, ALineOfOneRouteIsOfThatAlone) {
  LastHour hour(reading(0), kStart);
  hour.record(reading(10, 3), kStart + seconds(5));
  const auto line =
      hour.line({.range = minutes(1), .points = 2, .names = {"", "d/other", ""}}, reading(20, 4), kStart + seconds(6));
  EXPECT_EQ(line.back().counts.by_class[5], 4u);
  EXPECT_EQ(line.back().counts.requests(), 4u);
}

TEST(LastHour, ACounterThatGoesBackCountsFromZeroAgain) {
  LastHour hour(reading(1000), kStart);
  hour.record(reading(7), kStart + seconds(5));
  EXPECT_EQ(hour.span(reading(9), kStart + seconds(6), minutes(1)).total.requests(), 9u);
}

TEST(LastHour, ALongPauseIsOneStep) {
  LastHour hour(reading(0), kStart);
  hour.record(reading(600), kStart + minutes(10));
  const TrafficSpan span = hour.span(reading(600), kStart + minutes(10), seconds(10));
  EXPECT_EQ(span.covered, minutes(10));
  EXPECT_EQ(span.total.requests(), 600u);
}

// Limits at -1, 0, +1.
TEST(LastHour, OverSoManyRowsTheSmallestAreOne) {
  for (const std::size_t rows : {LastHour::kMostRows - 1, LastHour::kMostRows, LastHour::kMostRows + 1}) {
    LastHour hour(TrafficReading{}, kStart);
    TrafficReading now;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      now.rows[{"gw", "route-" + std::to_string(i), ""}] = answered(i + 1);
      all += i + 1;
    }
    hour.record(now, kStart + seconds(5));
    const TrafficSpan span = hour.span(now, kStart + seconds(5), minutes(1));
    EXPECT_EQ(span.total.requests(), all);
    EXPECT_EQ(span.rows.size(), std::min(rows, LastHour::kMostRows));
    EXPECT_EQ(span.rows.contains({"", "other", ""}), rows > LastHour::kMostRows);
  }
}

// Whoever chooses names cannot make it grow: an hour of 20,000 routes that each are asked for once.
TEST(LastHour, KeepsSoMuchWhateverTheNames) {
  LastHour hour(TrafficReading{}, kStart);
  Clock::time_point now = kStart;
  std::uint64_t all = 0;
  for (int i = 0; i < 720; ++i) {
    TrafficReading next;
    for (int k = 0; k < 30; ++k) next.rows[{"gw", "r" + std::to_string(i * 30 + k), ""}] = answered(1);
    all += 30;
    hour.record(std::move(next), now += LastHour::kStep);
  }
  const TrafficSpan span = hour.span({}, now, std::chrono::hours(1));
  EXPECT_EQ(span.total.requests(), all);
  EXPECT_LE(span.rows.size(), 62 * LastHour::kMostRows);
}

}  // namespace
}  // namespace edge::metrics
