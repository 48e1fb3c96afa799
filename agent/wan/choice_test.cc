#include "agent/wan/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

/// Paths whose states the test sets, and a choice that looks at them every 100 ms.
class World {
 public:
  World(const ChoiceSettings& settings, const std::vector<Candidate>& candidates)
      : choice(settings, candidates), paths_(candidates.size()) {
    for (std::size_t i = 0; i < candidates.size(); ++i) set(i, Fault::kNone);
    run(Time::zero());
  }

  void set(std::size_t path, Fault fault) {
    paths_[path].fault = fault;
    paths_[path].since = now;
    paths_[path].measured = true;
  }
  void set_latency(std::size_t path, Time latency) { paths_[path].latency = latency; }
  void set_loss(std::size_t path, double low, double high) {
    paths_[path].loss_low = low;
    paths_[path].loss_high = high;
  }
  void run(Time duration) {
    const Time end = now + duration;
    do {
      if (auto change = choice.step(paths_, now)) changes.push_back(*change);
      now += milliseconds(100);
    } while (now <= end);
  }
  const std::vector<std::size_t>& used() const { return choice.selection().paths; }

  Choice choice;
  std::vector<Change> changes;
  Time now = seconds(1);

 private:
  std::vector<PathState> paths_;
};

TEST(Choice, TrafficLeavesAfterAfterAndReturnsAfterBackAfter) {
  World world({}, {{}, {}});
  EXPECT_THAT(world.used(), ElementsAre(0));
  world.set(0, Fault::kLoss);
  world.run(milliseconds(2'900));
  EXPECT_THAT(world.used(), ElementsAre(0));
  world.run(milliseconds(200));
  EXPECT_THAT(world.used(), ElementsAre(1));
  world.set(0, Fault::kNone);
  // It failed soon after it was first used: twice backAfter.
  world.run(seconds(119));
  EXPECT_THAT(world.used(), ElementsAre(1));
  world.run(seconds(2));
  EXPECT_THAT(world.used(), ElementsAre(0));
  ASSERT_EQ(world.changes.size(), 3U);
  EXPECT_EQ(world.changes[0].cause, Cause::kStart);
  EXPECT_EQ(world.changes[1].cause, Cause::kFault);
  EXPECT_EQ(world.changes[1].fault, Fault::kLoss);
  EXPECT_EQ(world.changes[2].cause, Cause::kReturned);
}

TEST(Choice, AFaultShorterThanAfterMovesNothing) {
  World world({}, {{}, {}});
  for (int i = 0; i < 100; ++i) {
    world.set(0, Fault::kDead);
    world.run(milliseconds(2'500));
    world.set(0, Fault::kNone);
    world.run(milliseconds(100));
  }
  EXPECT_EQ(world.changes.size(), 1U);
}

TEST(Choice, ALinkThatFailsAgainAndAgainWaitsLongerEachTime) {
  World world({.back_after = seconds(10)}, {{}, {}});
  for (int i = 0; i < 2'000; ++i) {
    world.set(0, Fault::kLoss);
    world.run(seconds(5));
    world.set(0, Fault::kNone);
    world.run(seconds(30));
  }
  // 19 hours: without it, 2,000 times there and back.
  EXPECT_LE(world.changes.size(), 5U);
  world.run(kLongestBack + seconds(1));
  EXPECT_THAT(world.used(), ElementsAre(0));
  // When it was well for long, it is trusted as at first.
  world.run(10 * kLongestBack);
  world.set(0, Fault::kDead);
  world.run(seconds(5));
  EXPECT_EQ(world.choice.back_after(0), seconds(10));
}

TEST(Choice, MeteredIsTakenWhenNoOtherIsThereAndLeftForAnyOther) {
  World world({.strategy = Strategy::kLowestLatency}, {{.metered = true}, {.backup = true}, {}});
  world.set_latency(0, milliseconds(1));
  world.set_latency(1, milliseconds(50));
  world.set_latency(2, milliseconds(200));
  world.run(seconds(1));
  EXPECT_THAT(world.used(), ElementsAre(2));
  world.set(2, Fault::kDead);
  world.run(seconds(4));
  EXPECT_THAT(world.used(), ElementsAre(1));
  world.set(1, Fault::kDead);
  world.run(seconds(4));
  EXPECT_THAT(world.used(), ElementsAre(0));
  world.set(1, Fault::kNone);
  world.run(seconds(121));
  EXPECT_THAT(world.used(), ElementsAre(1));
}

TEST(Choice, LowestLatencyMovesForAClearDifferenceOnly) {
  World world({.strategy = Strategy::kLowestLatency}, {{}, {}});
  world.set_latency(0, milliseconds(30));
  world.set_latency(1, milliseconds(29));
  world.run(seconds(10));
  EXPECT_THAT(world.used(), ElementsAre(0));
  world.set_latency(1, milliseconds(21));  // below two thirds would be 20 ms
  world.run(seconds(10));
  EXPECT_THAT(world.used(), ElementsAre(0));
  world.set_latency(1, milliseconds(19));
  world.run(seconds(1));
  EXPECT_THAT(world.used(), ElementsAre(1));
  EXPECT_EQ(world.changes.back().cause, Cause::kBetter);
  world.set_latency(0, milliseconds(10));  // less than 10 ms better
  world.run(seconds(10));
  EXPECT_THAT(world.used(), ElementsAre(1));
}

TEST(Choice, LowestLossMovesWhenTheIntervalsOfConfidenceAreApart) {
  World world({.strategy = Strategy::kLowestLoss}, {{}, {}});
  world.set_loss(0, 0.01, 0.03);
  world.set_loss(1, 0, 0.02);
  world.run(seconds(10));
  EXPECT_THAT(world.used(), ElementsAre(0));
  world.set_loss(1, 0, 0.005);
  world.run(seconds(1));
  EXPECT_THAT(world.used(), ElementsAre(1));
}

TEST(Choice, LoadBalanceUsesAllThatAreEligible) {
  World world({.strategy = Strategy::kLoadBalance}, {{.weight = 100}, {.weight = 50}, {.metered = true}});
  EXPECT_THAT(world.used(), ElementsAre(0, 1));
  world.set(0, Fault::kDead);
  world.run(seconds(4));
  EXPECT_THAT(world.used(), ElementsAre(1));
  world.set(1, Fault::kDead);
  world.run(seconds(4));
  EXPECT_THAT(world.used(), ElementsAre(2));
}

TEST(Choice, WithoutAFitPathBestEffortStaysOnWhatLives) {
  World world({}, {{}, {}});
  world.set(0, Fault::kLoss);
  world.set(1, Fault::kLoss);
  world.run(seconds(10));
  EXPECT_THAT(world.used(), ElementsAre(0));
  EXPECT_TRUE(world.choice.selection().best_effort);
  world.set(0, Fault::kDead);
  world.run(seconds(1));
  EXPECT_THAT(world.used(), ElementsAre(1));
  world.set(1, Fault::kDead);
  world.run(seconds(1));
  EXPECT_THAT(world.used(), ElementsAre(1)) << "nothing is better";
}

TEST(Choice, DropNeverUsesAPathThatIsNotFit) {
  World world({.fallback = Fallback::kDrop}, {{}});
  EXPECT_THAT(world.used(), ElementsAre(0));
  world.set(0, Fault::kLatency);
  world.run(seconds(4));
  EXPECT_TRUE(world.used().empty());
  EXPECT_TRUE(world.choice.selection().dropped);
}

TEST(Choice, AFitPathIsTakenBeforeItsWaitIsOverWhenNoOtherIs) {
  for (const Fallback fallback : {Fallback::kBestEffort, Fallback::kDrop}) {
    World world({.fallback = fallback}, {{}, {}});
    world.run(seconds(1));
    // The second one recovers, and has long to wait when the first one fails.
    world.set(1, Fault::kDead);
    world.run(seconds(5));
    world.set(1, Fault::kNone);
    world.run(seconds(1));
    ASSERT_FALSE(world.choice.eligible(1));
    world.set(0, Fault::kDead);
    world.run(seconds(5));
    EXPECT_EQ(world.choice.selection(), (Selection{.paths = {1}}));
    // It is not left for a preferred one that has to wait, too.
    world.set(0, Fault::kNone);
    world.run(seconds(5));
    EXPECT_EQ(world.choice.selection(), (Selection{.paths = {1}}));
    world.run(seconds(600));
    EXPECT_EQ(world.choice.selection(), (Selection{.paths = {0}}));
    EXPECT_EQ(world.changes.back().cause, Cause::kReturned);
  }
}

TEST(Choice, ADisabledLinkLeavesAtOnce) {
  World world({}, {{}, {}});
  world.set(0, Fault::kDisabled);
  world.run(Time::zero());
  EXPECT_THAT(world.used(), ElementsAre(1));
}

TEST(Choice, DropBeforeAnythingIsMeasuredLetsNothingThrough) {
  Choice choice({.fallback = Fallback::kDrop}, {{}});
  const std::vector<PathState> unmeasured(1);
  ASSERT_TRUE(choice.step(unmeasured, seconds(1)));
  EXPECT_TRUE(choice.selection().dropped);
}

}  // namespace
}  // namespace edge::agent::wan
