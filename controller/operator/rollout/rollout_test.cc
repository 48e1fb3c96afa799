#include "controller/operator/rollout/rollout.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::cluster_operator {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Canary = RolloutRecord::Canary;
using Kind = RolloutStep::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

const WallTime kBegin = WallTime(std::chrono::hours(24 * 365 * 50));

AgentPod pod(const std::string& node, const std::string& hash, bool ready = true) {
  return {.name = "agent-" + node,
          .node = node,
          .template_hash = hash,
          .ready = ready,
          .leaving = false,
          .ready_since = kBegin};
}

RolloutView view(std::vector<AgentPod> pods, std::int64_t wanted) {
  return {.wanted_hash = "new",
          .wanted_count = wanted,
          .pods = std::move(pods),
          .comparison = {Comparison::Result::kTooFew, "too few"},
          .now = kBegin};
}

RolloutRecord sound(const std::string& hash = "old") {
  RolloutRecord record;
  record.sound_hash = hash;
  record.sound_object = "{}";
  return record;
}

RolloutRecord after_canary(Canary state) {
  RolloutRecord record = sound();
  record.canary = state;
  record.canary_hash = "new";
  record.since = kBegin;
  return record;
}

TEST(Rollout, IsDoneWhereEveryAgentIsOfTheTemplateAndReady) {
  EXPECT_EQ(next_step(view({pod("a", "new"), pod("b", "new")}, 2), sound(), {}).kind, Kind::kDone);
  EXPECT_EQ(next_step(view({pod("a", "new")}, 2), sound(), {}).kind, Kind::kWait);
  EXPECT_EQ(next_step(view({}, 0), sound(), {}).kind, Kind::kDone);
}

TEST(Rollout, BeginsWithOne) {
  const RolloutStep step = next_step(view({pod("b", "old"), pod("a", "old"), pod("c", "old")}, 3), sound(), {});
  EXPECT_EQ(step.kind, Kind::kReplace);
  EXPECT_THAT(step.pods, ElementsAre("agent-a"));
  EXPECT_EQ(step.record.canary, Canary::kStarted);
  EXPECT_EQ(step.record.canary_hash, "new");
  EXPECT_EQ(step.record.sound_hash, "old");
}

TEST(Rollout, BeginsWithOneThatServesNobody) {
  const RolloutStep step = next_step(view({pod("a", "old"), pod("b", "old", false)}, 2), sound(), {});
  EXPECT_THAT(step.pods, ElementsAre("agent-b"));
  // Another node is down: no further one is taken away.
  EXPECT_EQ(next_step(view({pod("a", "old"), pod("b", "old")}, 3), sound(), {}).kind, Kind::kWait);
}

TEST(Rollout, HoldsTheCanaryBeforeItGoesOn) {
  const RolloutOptions options{.hold = 30s, .patience = 600s};
  RolloutView now = view({pod("a", "new"), pod("b", "old"), pod("c", "old")}, 3);
  now.now = kBegin + 29s;
  RolloutStep step = next_step(now, after_canary(Canary::kStarted), options);
  EXPECT_EQ(step.kind, Kind::kWait);
  EXPECT_EQ(step.until, kBegin + 30s);
  now.now = kBegin + 30s;
  step = next_step(now, after_canary(Canary::kStarted), options);
  EXPECT_EQ(step.kind, Kind::kReplace);
  EXPECT_EQ(step.record.canary, Canary::kPassed);
  EXPECT_THAT(step.pods, ElementsAre("agent-b"));
}

TEST(Rollout, GoesBackWhenTheCanaryIsNotReadyInTime) {
  const RolloutOptions options{.hold = 30s, .patience = 600s};
  RolloutView now = view({pod("a", "new", false), pod("b", "old")}, 2);
  now.now = kBegin + 599s;
  EXPECT_EQ(next_step(now, after_canary(Canary::kStarted), options).kind, Kind::kWait);
  now.now = kBegin + 600s;
  const RolloutStep step = next_step(now, after_canary(Canary::kStarted), options);
  EXPECT_EQ(step.kind, Kind::kGoBack);
  EXPECT_EQ(step.record.canary, Canary::kFailed);
  // Back again, without a trial: every agent has run it.
  now.wanted_hash = "old";
  const RolloutStep back = next_step(now, step.record, options);
  EXPECT_EQ(back.kind, Kind::kReplace);
  EXPECT_THAT(back.pods, ElementsAre("agent-a"));
}

TEST(Rollout, GoesBackWhenTheCanaryIsWorse) {
  const RolloutOptions options{.hold = 30s, .patience = 600s};
  RolloutView now = view({pod("a", "new"), pod("b", "old")}, 2);
  now.now = kBegin + 5s;
  now.comparison = {Comparison::Result::kWorse, "5.0% were failed"};
  const RolloutStep step = next_step(now, after_canary(Canary::kStarted), options);
  EXPECT_EQ(step.kind, Kind::kGoBack);
  EXPECT_EQ(step.record.reason, "5.0% were failed");
  // While it is not ready its counts say nothing.
  now.pods[0].ready = false;
  EXPECT_EQ(next_step(now, after_canary(Canary::kStarted), options).kind, Kind::kWait);
}

TEST(Rollout, WaitsUntilTheRequestsAreCompared) {
  const RolloutOptions options{.hold = 30s, .patience = 600s};
  RolloutView now = view({pod("a", "new"), pod("b", "old")}, 2);
  now.now = kBegin + 60s;
  now.comparison = {Comparison::Result::kNone, "agent a cannot be asked"};
  RolloutStep step = next_step(now, after_canary(Canary::kStarted), options);
  EXPECT_EQ(step.kind, Kind::kWait);
  EXPECT_EQ(step.until, kBegin + 65s);
  EXPECT_THAT(step.text, testing::HasSubstr("agent a cannot be asked"));
  now.now = kBegin + 600s;
  step = next_step(now, after_canary(Canary::kStarted), options);
  EXPECT_EQ(step.kind, Kind::kGoBack);
  EXPECT_THAT(step.record.reason, testing::HasSubstr("agent a cannot be asked"));
}

/// The operator ended after it had written the record and before the pod was deleted.
TEST(Rollout, BeginsTheCanaryThatIsStillToBegin) {
  RolloutRecord record = after_canary(Canary::kStarted);
  record.canary_node = "a";
  RolloutView now = view({pod("a", "old"), pod("b", "old")}, 2);
  now.now = kBegin + 1s;
  RolloutStep step = next_step(now, record, {});
  EXPECT_EQ(step.kind, Kind::kReplace);
  EXPECT_THAT(step.pods, ElementsAre("agent-a"));
  EXPECT_EQ(step.record, record);
  // A long time after: the canary has all of its time before it.
  now.now = kBegin + 1h;
  step = next_step(now, record, {});
  EXPECT_THAT(step.pods, ElementsAre("agent-a"));
  EXPECT_EQ(step.record.since, now.now);
  // It is under way.
  now.pods[0].leaving = true;
  EXPECT_EQ(next_step(now, step.record, {}).kind, Kind::kWait);
  now.pods.erase(now.pods.begin());
  EXPECT_EQ(next_step(now, step.record, {}).kind, Kind::kWait);
}

TEST(Rollout, TakesAwayNoMoreThanMayBeUnavailable) {
  RolloutView now = view({pod("a", "new"), pod("b", "old"), pod("c", "old"), pod("d", "old"), pod("e", "old")}, 5);
  now.max_unavailable = 2;
  EXPECT_THAT(next_step(now, after_canary(Canary::kPassed), {}).pods, ElementsAre("agent-b", "agent-c"));
  now.pods[0].ready = false;
  EXPECT_THAT(next_step(now, after_canary(Canary::kPassed), {}).pods, ElementsAre("agent-b"));
  now.pods[1].leaving = true;
  EXPECT_THAT(next_step(now, after_canary(Canary::kPassed), {}).pods, IsEmpty());
  // What serves nobody costs nothing.
  now.pods[2].ready = false;
  EXPECT_THAT(next_step(now, after_canary(Canary::kPassed), {}).pods, ElementsAre("agent-c"));
}

TEST(Rollout, LeavesPodsToWhoReplacesThemByHand) {
  RolloutView now = view({pod("a", "old")}, 1);
  now.by_hand = true;
  EXPECT_EQ(next_step(now, sound(), {}).kind, Kind::kWait);
}

TEST(Rollout, OfAnotherTemplateBeginsAnew) {
  RolloutView now = view({pod("a", "new", false), pod("b", "old")}, 2);
  now.wanted_hash = "newest";
  const RolloutStep step = next_step(now, after_canary(Canary::kStarted), {});
  EXPECT_THAT(step.pods, ElementsAre("agent-a"));
  EXPECT_EQ(step.record.canary_hash, "newest");
}

/// Nodes of a cluster, where deleted pods come back with the template of the day; the operator may be killed between
/// any two steps, since all that it knows is the record.
TEST(Rollout, GoesThroughEveryNodeAndKeepsTheOthersServing) {
  for (std::int64_t nodes = 1; nodes <= 40; ++nodes) {
    RolloutRecord record = sound();
    std::vector<AgentPod> pods;
    for (std::int64_t n = 0; n < nodes; ++n) pods.push_back(pod(std::to_string(n), "old"));
    RolloutView now = view(pods, nodes);
    now.max_unavailable = unavailable_of("10%", nodes);
    RolloutStep step;
    int turns = 0;
    for (; step.kind != Kind::kDone && turns < 400; ++turns) {
      step = next_step(now, read_record(write_record(record)), {});
      record = step.record;
      const auto down = std::ranges::count_if(now.pods, [](const AgentPod& one) { return !one.ready; });
      EXPECT_LE(down + static_cast<std::int64_t>(step.pods.size()), now.max_unavailable);
      for (AgentPod& one : now.pods) {
        if (!one.ready) one.ready = true, one.ready_since = now.now;
        if (std::ranges::find(step.pods, one.name) != step.pods.end()) one.template_hash = "new", one.ready = false;
      }
      now.now += 10s;
    }
    EXPECT_EQ(step.kind, Kind::kDone) << nodes;
    EXPECT_EQ(record.canary, Canary::kPassed);
  }
}

TEST(Rollout, ReadsNoRecordThatIsNone) {
  EXPECT_EQ(read_record(json(nullptr)), RolloutRecord());
  EXPECT_EQ(read_record({{"canary", 7}, {"since", "x"}, {"soundHash", "h"}}), RolloutRecord());
  const RolloutRecord record = after_canary(Canary::kFailed);
  EXPECT_EQ(read_record(write_record(record)), record);
  EXPECT_EQ(unavailable_of("25%", 5), 2);
  EXPECT_EQ(unavailable_of("1%", 5), 1);
  EXPECT_EQ(unavailable_of(3, 5), 3);
}

}  // namespace
}  // namespace edge::cluster_operator
