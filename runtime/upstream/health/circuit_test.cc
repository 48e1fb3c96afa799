// Every transition of the table "Circuit breaker", by a clock that the test moves.
#include "runtime/upstream/health/circuit.h"

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using Admission = Circuit::Admission;
using State = Circuit::State;

constexpr CircuitSettings kCircuit{.errors = 3, .interval = seconds(10), .open_time = seconds(30), .split = false};
constexpr CircuitSettings kSplit{.errors = 3, .interval = seconds(10), .open_time = seconds(30), .split = true};

class CircuitTest : public testing::Test {
 protected:
  bool observe(RequestResult outcome, const CircuitSettings& settings = kCircuit) {
    return circuit.observe(outcome, false, settings, clock.now());
  }
  bool probed(RequestResult outcome) { return circuit.observe(outcome, true, kCircuit, clock.now()); }
  Admission admit() { return circuit.admit(clock.now()); }
  void open() {
    for (int i = 0; i < 3; ++i) observe(RequestResult::kServerError);
    ASSERT_EQ(circuit.state(), State::kOpen);
  }
  void half_open() {
    open();
    clock.advance(seconds(30));
    ASSERT_EQ(admit(), Admission::kProbe);
  }
  net::ManualClock clock;
  Circuit circuit;
};

TEST_F(CircuitTest, IsClosedAtTheStart) {
  EXPECT_EQ(circuit.state(), State::kClosed);
  EXPECT_EQ(admit(), Admission::kPass);
  EXPECT_TRUE(circuit.clean());
}

TEST_F(CircuitTest, ClosedOpensWithTheLastErrorOfTheRun) {
  EXPECT_FALSE(observe(RequestResult::kServerError));
  EXPECT_FALSE(observe(RequestResult::kNoAnswer));
  EXPECT_EQ(circuit.state(), State::kClosed);
  EXPECT_FALSE(circuit.clean());
  EXPECT_TRUE(observe(RequestResult::kServerError));
  EXPECT_EQ(circuit.state(), State::kOpen);
  EXPECT_EQ(circuit.open_until(), clock.now() + seconds(30));
}

TEST_F(CircuitTest, ASuccessBreaksTheRun) {
  for (int i = 0; i < 10; ++i) {
    observe(RequestResult::kServerError);
    observe(RequestResult::kServerError);
    observe(RequestResult::kSuccess);
  }
  EXPECT_TRUE(circuit.clean());
}

TEST_F(CircuitTest, ErrorsThatLieFurtherApartThanTheIntervalAreNoRun) {
  for (int i = 0; i < 10; ++i) {
    observe(RequestResult::kServerError);
    clock.advance(seconds(10) + nanoseconds(1));
  }
  EXPECT_EQ(circuit.state(), State::kClosed);
}

TEST_F(CircuitTest, AThresholdOfZeroNeverOpens) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(observe(RequestResult::kNoAnswer, {}));
  EXPECT_TRUE(circuit.clean());
}

TEST_F(CircuitTest, SplitErrorsAreCountedApart) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(observe(RequestResult::kNoAnswer, kSplit));
    EXPECT_FALSE(observe(RequestResult::kServerError, kSplit)) << "an answer ends the run of requests without one";
  }
  EXPECT_TRUE(observe(RequestResult::kServerError, kSplit));
}

TEST_F(CircuitTest, SplitLocalErrorsOpenItToo) {
  observe(RequestResult::kServerError, kSplit);
  observe(RequestResult::kServerError, kSplit);
  EXPECT_FALSE(observe(RequestResult::kNoAnswer, kSplit));
  EXPECT_FALSE(observe(RequestResult::kNoAnswer, kSplit));
  EXPECT_TRUE(observe(RequestResult::kNoAnswer, kSplit));
}

TEST_F(CircuitTest, OpenRefusesAllUntilItsTimeIsOver) {
  open();
  clock.advance(seconds(30) - nanoseconds(1));
  EXPECT_EQ(admit(), Admission::kRefuse);
  EXPECT_EQ(circuit.state(), State::kOpen);
  EXPECT_FALSE(observe(RequestResult::kSuccess)) << "of a request from before: it does not close the circuit";
  EXPECT_FALSE(observe(RequestResult::kServerError));
  EXPECT_EQ(circuit.open_until(), clock.now() + nanoseconds(1)) << "nor does it keep it open";
}

TEST_F(CircuitTest, HalfOpenLetsOneProbeThrough) {
  half_open();
  EXPECT_EQ(circuit.state(), State::kHalfOpen);
  EXPECT_EQ(admit(), Admission::kRefuse);
  clock.advance(seconds(3600));
  EXPECT_EQ(admit(), Admission::kRefuse) << "whatever the probe takes";
  EXPECT_FALSE(observe(RequestResult::kSuccess)) << "another's outcome decides nothing";
}

TEST_F(CircuitTest, AProbeThatSucceedsClosesIt) {
  half_open();
  EXPECT_TRUE(probed(RequestResult::kSuccess));
  EXPECT_EQ(circuit.state(), State::kClosed);
  EXPECT_EQ(admit(), Admission::kPass);
  EXPECT_TRUE(circuit.clean());
  open();
}

TEST_F(CircuitTest, AProbeThatFailsOpensItAnew) {
  half_open();
  EXPECT_TRUE(probed(RequestResult::kNoAnswer));
  EXPECT_EQ(circuit.state(), State::kOpen);
  EXPECT_EQ(circuit.open_until(), clock.now() + seconds(30));
  EXPECT_EQ(admit(), Admission::kRefuse);
  clock.advance(seconds(30));
  EXPECT_EQ(admit(), Admission::kProbe);
}

TEST_F(CircuitTest, AProbeWithoutAnOutcomeIsFollowedByAnother) {
  half_open();
  probed(RequestResult::kUnknown);
  EXPECT_EQ(admit(), Admission::kProbe);
  EXPECT_EQ(admit(), Admission::kRefuse);
}

}  // namespace
}  // namespace edge::runtime
