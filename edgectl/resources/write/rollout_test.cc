#include "edgectl/resources/write/rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

using controller::AgentProgress;
using controller::ObjectProgress;
using testing::ElementsAre;
using State = ObjectProgress::State;

Written route(const std::string& name, bool gone = false) {
  return {.type = {{.group = "edgeproxy.io", .version = "v1alpha1", .plural = "proxyroutes", .kind = "ProxyRoute"},
                   nullptr},
          .name_space = "default",
          .name = name,
          .uid = "u",
          .resource_version = "7",
          .gone = gone};
}

AgentProgress runs(const std::string& name, std::uint64_t program, std::uint64_t values) {
  return {name, program, values, 0, ""};
}

AgentProgress runs_in(const std::string& name, std::uint64_t program, const std::string& group,
                      const std::string& held_to) {
  return {
      .name = name, .program = program, .values = 3, .refused = 0, .reason = "", .group = group, .held_to = held_to};
}

TEST(Rollout, IsOverWhenEveryAgentRunsTheProgramAndItsValues) {
  Rollout rollout({route("a"), route("b")});
  ASSERT_EQ(rollout.question().size(), 2U);
  EXPECT_EQ(rollout.question()[0].resource_version, "7");
  rollout.take({"run", 3, "", {{State::kTaken, 4, ""}, {}}, {runs("x", 4, 3), runs("y", 3, 3)}});
  EXPECT_EQ(rollout.line(), "0 of 2 programmed; behind: y");
  EXPECT_THAT(rollout.unfinished(),
              ElementsAre("proxyroute/a is not programmed yet: behind: y",
                          "proxyroute/b is not programmed yet: the controller has not compiled it"));
  // The program alone is not enough; what is published meanwhile is another's affair.
  rollout.take({"run", 9, "", {{State::kTaken, 4, ""}, {State::kTaken, 5, ""}}, {runs("x", 4, 3), runs("y", 4, 2)}});
  EXPECT_EQ(rollout.line(), "0 of 2 programmed; behind: x, y");
  rollout.take({"run", 9, "", {{State::kTaken, 4, ""}, {State::kTaken, 5, ""}}, {runs("x", 4, 3), runs("y", 4, 3)}});
  EXPECT_EQ(rollout.line(), "1 of 2 programmed; behind: x, y");
  EXPECT_EQ(rollout.question().size(), 1U);
  rollout.take({"run", 9, "", {{State::kTaken, 5, ""}}, {runs("x", 5, 9), runs("y", 6, 10)}});
  EXPECT_TRUE(rollout.over());
  EXPECT_TRUE(rollout.take_faults().empty());
}

TEST(Rollout, CountsAnewForAnotherRunOfTheController) {
  Rollout rollout({route("a")});
  rollout.take({"run", 90, "", {{State::kTaken, 40, ""}}, {runs("x", 39, 90)}});
  rollout.take({"next", 2, "", {{State::kTaken, 1, ""}}, {runs("x", 1, 2)}});
  EXPECT_TRUE(rollout.over());
}

TEST(Rollout, ThatIsNoneEndsWithTheReason) {
  Rollout rollout({route("a"), route("b"), route("c"), route("d")});
  AgentProgress refuses = runs("x", 4, 3);
  refuses.refused = 5;
  refuses.reason = "wrong signature";
  rollout.take({"run",
                3,
                "",
                {{State::kRejected, 0, "Invalid: so it is"},
                 {State::kApart, 0, ""},
                 {State::kTaken, 5, ""},
                 {State::kTaken, 4, ""}},
                {refuses}});
  EXPECT_TRUE(rollout.over());
  EXPECT_THAT(rollout.take_faults(),
              ElementsAre("proxyroute/a is not accepted: Invalid: so it is",
                          "proxyroute/c is not served by agent x, which refuses the program: wrong signature"));
  Rollout held({route("a")});
  held.take({"run", 3, "0123456789abcdef", {{State::kTaken, 5, ""}}, {runs("x", 2, 3)}});
  EXPECT_THAT(held.take_faults(), ElementsAre("proxyroute/a waits for the end of a rollback, which holds agents to "
                                              "0123456789ab; `edgectl rollback --release` ends it"));
}

TEST(Rollout, IsHeldUpByARollbackWhenNobodyElseIsBehind) {
  const std::string program = "0123456789abcdef";
  Rollout rollout({route("a")});
  rollout.take(
      {"run", 3, "", {{State::kTaken, 5, ""}}, {runs_in("x", 4, "default", ""), runs_in("y", 2, "canary", program)}});
  EXPECT_FALSE(rollout.over()) << "x is on its way";
  rollout.take(
      {"run", 3, "", {{State::kTaken, 5, ""}}, {runs_in("x", 5, "default", ""), runs_in("y", 2, "canary", program)}});
  EXPECT_THAT(rollout.take_faults(),
              ElementsAre("proxyroute/a waits for the end of a rollback, which holds agents of the group canary to "
                          "0123456789ab; `edgectl rollback --release --group canary` ends it"));
}

TEST(Rollout, OfARemovalSaysWhoServesItStill) {
  Rollout rollout({route("a", /*gone=*/true)});
  std::vector<AgentProgress> agents;
  for (const char* name : {"e1", "e2", "e3", "e4", "e5", "e6", "e7"}) agents.push_back(runs(name, 1, 1));
  rollout.take({"run", 1, "", {{State::kTaken, 2, ""}}, agents});
  EXPECT_THAT(rollout.unfinished(), ElementsAre("proxyroute/a is still served: behind: e1, e2, e3, e4, e5 and 2 more"));
  rollout.take({"run", 1, "", {{State::kTaken, 2, ""}}, {}});
  EXPECT_THAT(rollout.unfinished(), ElementsAre("proxyroute/a is still served: no agent is connected"));
  // An answer that is too short loses nothing but what it leaves out of its own question.
  rollout.take({"run", 1, "", {{State::kTaken, 3, ""}}, {runs("e1", 2, 1)}});
  EXPECT_TRUE(rollout.over());
}

}  // namespace
}  // namespace edge::edgectl
