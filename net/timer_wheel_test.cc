#include "net/timer_wheel.h"

#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace edge::net {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Alarm final : public TimerNode {
 public:
  int rang = 0;
  Time last{};
  ManualClock* clock = nullptr;
  void expired() override {
    ++rang;
    if (clock != nullptr) last = clock->now();
  }
};

class TimerWheelTest : public testing::Test {
 protected:
  void pass(Duration by) {
    clock.advance(by);
    wheel.advance(clock.now());
  }
  ManualClock clock;
  TimerWheel wheel{clock.now()};
};

TEST_F(TimerWheelTest, RingsOnceAtItsTime) {
  Alarm alarm;
  wheel.set(alarm, clock.now() + milliseconds(100));
  pass(milliseconds(99));
  EXPECT_EQ(alarm.rang, 0);
  pass(milliseconds(5));
  EXPECT_EQ(alarm.rang, 1);
  pass(hours(1));
  EXPECT_EQ(alarm.rang, 1);
  EXPECT_EQ(wheel.next(), kNever);
}

TEST_F(TimerWheelTest, ALaterDeadlineIsOnlyStored) {
  Alarm alarm;
  wheel.set(alarm, clock.now() + milliseconds(20));
  wheel.set(alarm, clock.now() + seconds(30));
  pass(seconds(29));
  EXPECT_EQ(alarm.rang, 0);
  pass(seconds(1) + milliseconds(4));
  EXPECT_EQ(alarm.rang, 1);
}

TEST_F(TimerWheelTest, ANearerDeadlineIsLinkedAnew) {
  Alarm alarm;
  wheel.set(alarm, clock.now() + seconds(300));
  wheel.set(alarm, clock.now() + milliseconds(8));
  pass(milliseconds(12));
  EXPECT_EQ(alarm.rang, 1);
}

TEST_F(TimerWheelTest, ADroppedDeadlineDoesNotRing) {
  Alarm alarm;
  wheel.set(alarm, clock.now() + seconds(1));
  wheel.drop(alarm);
  pass(seconds(2));
  EXPECT_EQ(alarm.rang, 0);
  wheel.set(alarm, clock.now() + seconds(1));
  pass(seconds(2));
  EXPECT_EQ(alarm.rang, 1);
}

TEST_F(TimerWheelTest, DestroyedNodesLeaveTheWheel) {
  auto alarm = std::make_unique<Alarm>();
  wheel.set(*alarm, clock.now() + seconds(1));
  alarm.reset();
  pass(seconds(2));
  EXPECT_EQ(wheel.next(), kNever);
}

TEST_F(TimerWheelTest, EveryDeadlineIsKeptWithinTwoTicks) {
  std::mt19937_64 random(7);
  struct Case {
    Alarm alarm;
    Time due;
  };
  std::vector<std::unique_ptr<Case>> cases;
  for (int i = 0; i < 2000; ++i) {
    auto one = std::make_unique<Case>();
    one->alarm.clock = &clock;
    // Every level: milliseconds to hours.
    const auto ahead = milliseconds(std::int64_t{1} << (random() % 25)) + milliseconds(random() % 1000);
    one->due = clock.now() + ahead;
    wheel.set(one->alarm, one->due);
    cases.push_back(std::move(one));
  }
  while (wheel.next() != kNever) {
    clock.advance(std::max<Duration>(wheel.next() - clock.now(), milliseconds(1)));
    wheel.advance(clock.now());
  }
  for (const auto& one : cases) {
    ASSERT_EQ(one->alarm.rang, 1);
    EXPECT_GE(one->alarm.last, one->due);
    EXPECT_LE(one->alarm.last, one->due + 2 * TimerWheel::kTick);
  }
}

TEST_F(TimerWheelTest, AnAlarmMaySetItselfAgain) {
  class Repeating final : public TimerNode {
   public:
    Repeating(TimerWheel& wheel, ManualClock& clock) : wheel_(wheel), clock_(clock) {}
    int rang = 0;
    void expired() override {
      if (++rang < 3) wheel_.set(*this, clock_.now() + milliseconds(40));
    }

   private:
    TimerWheel& wheel_;
    ManualClock& clock_;
  } repeating(wheel, clock);
  wheel.set(repeating, clock.now() + milliseconds(40));
  for (int i = 0; i < 10; ++i) pass(milliseconds(50));
  EXPECT_EQ(repeating.rang, 3);
}

}  // namespace
}  // namespace edge::net
