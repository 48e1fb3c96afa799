#include "edgectl/web/api/views/progress_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::edgectl::web {
namespace {

using State = controller::ObjectProgress::State;

const std::vector<controller::ObjectVersion> kObjects = {
    {.kind = "ProxyRoute", .name_space = "shop", .name = "cart", .uid = "u", .resource_version = "7"}};

controller::Progress progress(State state, std::vector<controller::AgentProgress> agents) {
  return {.run = "r", .values = 5, .pinned = {}, .objects = {{state, 7, "why"}}, .agents = std::move(agents)};
}

TEST(Progress, IsOverWhenEveryAgentHasTheProgramAndItsValues) {
  const controller::AgentProgress current{.name = "a", .program = 7, .values = 5, .reason = {}};
  controller::AgentProgress behind{.name = "b", .program = 7, .values = 4, .reason = {}};
  auto json = progress_json(kObjects, progress(State::kTaken, {current, behind}));
  EXPECT_EQ(json["over"], false);
  EXPECT_EQ(json["current"], 1);
  EXPECT_EQ(json["agents"][1]["state"], "behind");
  behind.values = 6;
  json = progress_json(kObjects, progress(State::kTaken, {current, behind}));
  EXPECT_EQ(json["over"], true);
  EXPECT_EQ(json["failed"], false);
}

TEST(Progress, NothingIsCurrentBeforeItIsCompiled) {
  const auto json =
      progress_json(kObjects, progress(State::kWaiting, {{.name = "a", .program = 9, .values = 9, .reason = {}}}));
  EXPECT_EQ(json["over"], false);
  EXPECT_EQ(json["compiled"], false);
  EXPECT_EQ(json["current"], 0);
}

TEST(Progress, FailsWhereNobodyComesFurther) {
  const controller::AgentProgress refuses{.name = "a", .program = 6, .values = 5, .refused = 7, .reason = "too large"};
  const controller::AgentProgress held{
      .name = "b", .program = 6, .values = 5, .reason = {}, .group = "g", .held_to = "abc"};
  auto json = progress_json(kObjects, progress(State::kTaken, {refuses, held}));
  EXPECT_EQ(json["over"], true);
  EXPECT_EQ(json["failed"], true);
  EXPECT_EQ(json["agents"][0]["state"], "refused");
  EXPECT_EQ(json["agents"][0]["reason"], "too large");
  EXPECT_EQ(json["agents"][1]["state"], "held");
  json = progress_json(kObjects, progress(State::kRejected, {}));
  EXPECT_EQ(json["over"], true);
  EXPECT_EQ(json["failed"], true);
  EXPECT_EQ(json["objects"][0]["reason"], "why");
}

TEST(Progress, WaitsForTheFirstAgent) {
  const auto json = progress_json(kObjects, progress(State::kTaken, {}));
  EXPECT_EQ(json["over"], false);
  EXPECT_EQ(progress_json(kObjects, progress(State::kApart, {}))["over"], true);
}

TEST(Progress, RequestsAreBounded) {
  EXPECT_FALSE(read_progress_request(""));
  EXPECT_FALSE(read_progress_request(R"({"objects":[]})"));
  EXPECT_FALSE(read_progress_request(R"({"objects":[{"kind":"A"}]})"));
  std::string many = R"({"objects":[)";
  for (int i = 0; i < 100; ++i) many += (i == 0 ? "" : ",") + std::string(R"({"kind":"A","name":"a"})");
  EXPECT_TRUE(read_progress_request(many + "]}"));
  EXPECT_FALSE(read_progress_request(many + R"(,{"kind":"A","name":"a"}]})"));
}

}  // namespace
}  // namespace edge::edgectl::web
