#include "controller/status/status_queue.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"

namespace edge::controller {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Json = nlohmann::json;
using WriteResult = StatusQueue::WriteResult;

constexpr const char* kNow = "2026-01-02T03:04:05Z";

ResourceId key(const std::string& name, const std::string& kind = "ProxyRoute") { return {kind, "shop", name}; }

Json condition(const std::string& type, const std::string& status, const std::string& reason) {
  return {{"type", type}, {"status", status}, {"reason", reason}, {"message", ""}, {"observedGeneration", 1}};
}

DesiredStatus desired(const std::string& name, std::uint64_t program = 1) {
  DesiredStatus made;
  made.key = key(name);
  made.servable = true;
  made.program = program;
  made.status =
      Json({{"observedGeneration", 1},
            {"conditions", {condition("Programmed", "True", "Programmed"), condition("Ready", "True", "Valid")}}})
          .dump();
  return made;
}

AgentsView agents(std::vector<std::uint64_t> programs) {
  AgentsView view;
  view.programs = std::move(programs);
  return view;
}

/// A cluster that takes every patch.
class StatusQueueTest : public testing::Test {
 protected:
  StatusQueueTest() : queue_({.controller_class = "edgeproxy.io/proxy"}) {}

  void add(const std::string& name) {
    stored_[key(name)] = Json::object();
    queue_.observe(key(name), observed(key(name)), now_);
  }
  StatusQueue::Observed observed(const ResourceId& key) {
    return {"uid", std::to_string(++version_), stored_[key].empty() ? "" : stored_[key].dump()};
  }
  /// \returns how many were written.
  std::size_t read_reply() {
    std::size_t writes = 0;
    while (auto write = queue_.next(now_, kNow)) {
      last_ = Json::parse(write->patch);
      flips_ = write->flips;
      stored_[write->key].merge_patch(last_["status"]);
      queue_.done(write->key, WriteResult::kWritten, observed(write->key), now_);
      ++writes;
      // The watch tells of our own writes.
      queue_.observe(write->key, observed(write->key), now_);
    }
    return writes;
  }
  Json stored(const std::string& name, const std::string& type) {
    for (const Json& condition : stored_[key(name)]["conditions"]) {
      if (condition["type"] == type) return condition;
    }
    return {};
  }

  StatusQueue queue_;
  net::Time now_ = net::Time(1h);
  std::map<ResourceId, Json> stored_;
  std::vector<ConditionFlip> flips_;
  Json last_;
  int version_ = 10;
};

TEST_F(StatusQueueTest, WritesWhatIsNewAndThenNothing) {
  queue_.agents(agents({1}), now_);
  add("a");
  EXPECT_EQ(read_reply(), 0u) << "nobody has judged it";
  queue_.set_desired(desired("a"), now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored("a", "Ready")["status"], "True");
  EXPECT_EQ(stored("a", "Ready")["lastTransitionTime"], kNow);
  EXPECT_EQ(last_["metadata"]["uid"], "uid");
  queue_.set_desired(desired("a"), now_);
  queue_.agents(agents({1}), now_ += 1h);
  queue_.observe(key("a"), observed(key("a")), now_);
  EXPECT_EQ(read_reply(), 0u);
  EXPECT_EQ(queue_.due(), net::kNever);
}

TEST_F(StatusQueueTest, AgentsThatFollowAtOnceCostOneWrite) {
  queue_.agents(agents({0, 1}), now_);
  add("a");
  queue_.set_desired(desired("a"), now_);
  EXPECT_EQ(read_reply(), 0u) << "the agent has half a second";
  EXPECT_EQ(queue_.due(), now_ + 500ms);
  queue_.agents(agents({1, 1}), now_ += 20ms);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored("a", "Programmed")["status"], "True");
}

/// A gateway with two listeners.
DesiredStatus gateway_desired() {
  DesiredStatus made = desired("web");
  made.key.kind = "Gateway";
  const auto listener = [](const char* name) {
    return Json{{"name", name}, {"conditions", {condition("Programmed", "True", "Programmed")}}};
  };
  Json status = Json::parse(made.status);
  status["listeners"] = {listener("http"), listener("https")};
  made.status = status.dump();
  return made;
}

AgentState agent_with(const std::string& name, std::vector<UnboundListener> unbound = {}) {
  AgentState agent;
  agent.name = name;
  agent.connected = true;
  agent.program = "p";
  agent.unbound = std::move(unbound);
  return agent;
}

UnboundListener unbound(const std::string& listener, BindFault fault) {
  return {stable_id("Gateway", "shop", "web"), "shop", "web", listener, "10.0.0.1:80", fault, "the reason"};
}

class UnboundListeners : public StatusQueueTest {
 protected:
  void see(const std::vector<AgentState>& agents) {
    queue_.agents(view_of(agents, {}, [](const std::string&) { return std::uint64_t{1}; }), now_);
    read_reply();
  }
  void add_gateway() {
    const DesiredStatus made = gateway_desired();
    stored_[made.key] = Json::object();
    queue_.observe(made.key, observed(made.key), now_);
    queue_.set_desired(made, now_);
  }
  /// `True Programmed` of a listener, or of the gateway.
  std::string programmed(const std::string& listener = "") {
    const Json& status = stored_[key("web", "Gateway")];
    Json conditions = status["conditions"];
    for (const Json& one : status["listeners"]) {
      if (one["name"] == listener) conditions = one["conditions"];
    }
    for (const Json& one : conditions) {
      if (one["type"] == "Programmed") return text_in(one, "status") + " " + text_in(one, "reason");
    }
    return {};
  }
};

TEST_F(UnboundListeners, FailAlone) {
  add_gateway();
  see({agent_with("a"), agent_with("b", {unbound("http", BindFault::kPort)})});
  EXPECT_EQ(programmed("http"), "False PortUnavailable");
  EXPECT_EQ(programmed("https"), "True Programmed");
  EXPECT_EQ(programmed(), "True Programmed");
  EXPECT_EQ(stored_[key("web", "Gateway")]["listeners"][0]["conditions"][0]["message"], "agent b: the reason");
  see({agent_with("a"), agent_with("b")});
  EXPECT_EQ(programmed("http"), "True Programmed");
}

TEST_F(UnboundListeners, AreTheGatewaysFaultWhenThatIsAllOfThem) {
  add_gateway();
  see({agent_with("a", {unbound("http", BindFault::kPort), unbound("https", BindFault::kPort)})});
  EXPECT_EQ(programmed(), "False PortUnavailable");
}

TEST_F(UnboundListeners, LackAnAddressWhenNoAgentHasIt) {
  add_gateway();
  see({agent_with("a", {unbound("http", BindFault::kAddress)}), agent_with("b")});
  EXPECT_EQ(programmed("http"), "True Programmed") << "the other agent has the address";
  see({agent_with("a", {unbound("http", BindFault::kAddress)}),
       agent_with("b", {unbound("http", BindFault::kAddress)})});
  EXPECT_EQ(programmed("http"), "False AddressNotUsable");
  EXPECT_EQ(programmed(), "False AddressNotUsable");
  EXPECT_EQ(programmed("https"), "True Programmed");
}

TEST_F(UnboundListeners, NoListenerIsProgrammedBeforeAnAgentRunsIt) {
  add_gateway();
  see({});
  now_ += 501ms;
  read_reply();
  EXPECT_EQ(programmed("http"), "False Pending");
  EXPECT_EQ(programmed("https"), "False Pending");
}

TEST_F(StatusQueueTest, AnAgentThatLagsIsTold) {
  queue_.agents(agents({1, 2, 2}), now_);
  add("a");
  queue_.set_desired(desired("a", 2), now_);
  now_ += 501ms;
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored("a", "Programmed")["reason"], "Pending");
  EXPECT_EQ(stored("a", "Programmed")["message"], "2 of 3 agents run it");
  EXPECT_EQ(stored("a", "Ready")["status"], "False");
  queue_.agents(agents({2, 2, 2}), now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored("a", "Ready")["status"], "True");
}

TEST_F(StatusQueueTest, ARefusalIsToldAtOnce) {
  AgentsView view = agents({1, 2});
  view.refused = 2;
  view.refusal = "agent n1: its signature is another key's";
  queue_.agents(view, now_);
  add("a");
  queue_.set_desired(desired("a", 2), now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored("a", "Programmed")["reason"], "AgentRefused");
  EXPECT_THAT(stored("a", "Programmed")["message"].get<std::string>(), HasSubstr("n1: its signature"));
}

TEST_F(StatusQueueTest, TimesStayUntilTheStatusTurns) {
  queue_.agents(agents({1}), now_);
  add("a");
  DesiredStatus first = desired("a");
  queue_.set_desired(first, now_);
  read_reply();
  stored_[key("a")]["conditions"][0]["lastTransitionTime"] = "2020-01-01T00:00:00Z";
  stored_[key("a")]["conditions"][1]["lastTransitionTime"] = "2020-01-01T00:00:00Z";
  queue_.observe(key("a"), observed(key("a")), now_);
  EXPECT_EQ(read_reply(), 0u);
  DesiredStatus second = desired("a");
  Json status = Json::parse(second.status);
  status["conditions"][1] = condition("Ready", "False", "Invalid");
  status["conditions"][0]["observedGeneration"] = 2;
  second.status = status.dump();
  queue_.set_desired(second, now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored("a", "Programmed")["lastTransitionTime"], "2020-01-01T00:00:00Z");
  EXPECT_EQ(stored("a", "Ready")["lastTransitionTime"], kNow);
  ASSERT_EQ(flips_.size(), 1u);
  EXPECT_EQ(flips_[0].type, "Ready");
}

TEST_F(StatusQueueTest, AConflictIsTriedOnWhatStandsThereNow) {
  queue_.agents(agents({1}), now_);
  add("a");
  queue_.set_desired(desired("a"), now_);
  auto write = queue_.next(now_, kNow);
  ASSERT_TRUE(write);
  EXPECT_EQ(queue_.writing(), 1u);
  queue_.done(key("a"), WriteResult::kStale, StatusQueue::Observed{"uid", "99", ""}, now_);
  write = queue_.next(now_, kNow);
  ASSERT_TRUE(write);
  EXPECT_EQ(Json::parse(write->patch)["metadata"]["resourceVersion"], "99");
  // An event from before the conflict changes nothing.
  queue_.observe(key("a"), {"uid", "50", "{}"}, now_);
  queue_.done(key("a"), WriteResult::kWritten, StatusQueue::Observed{"uid", "100", "{}"}, now_);
  EXPECT_FALSE(queue_.next(now_, kNow)) << "what a server leaves out of a write it is not asked for again";
  queue_.observe(key("a"), {"uid", "101", R"({"conditions":[]})"}, now_);
  EXPECT_TRUE(queue_.next(now_, kNow)) << "somebody took it away";
}

TEST_F(StatusQueueTest, AFailureIsTriedLaterAndLater) {
  queue_.agents(agents({1}), now_);
  add("a");
  queue_.set_desired(desired("a"), now_);
  net::Duration before{};
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(queue_.next(now_, kNow));
    queue_.done(key("a"), WriteResult::kFailed, std::nullopt, now_);
    EXPECT_FALSE(queue_.next(now_, kNow));
    const net::Duration delay = queue_.due() - now_;
    EXPECT_GE(delay, before);
    EXPECT_LE(delay, 60s);
    before = delay;
    now_ += delay;
  }
}

TEST_F(StatusQueueTest, AStormIsBoundedByRateAndNumber) {
  queue_.agents(agents({1}), now_);
  for (int i = 0; i < 1000; ++i) add("r" + std::to_string(i));
  for (int i = 0; i < 1000; ++i) queue_.set_desired(desired("r" + std::to_string(i)), now_);
  std::size_t started = 0;
  while (queue_.next(now_, kNow)) ++started;
  EXPECT_EQ(started, 8u);
  for (int i = 0; i < 1000; ++i) queue_.done(key("r" + std::to_string(i)), WriteResult::kGone, std::nullopt, now_);
  EXPECT_EQ(read_reply(), 192u);
  now_ += 1s;
  EXPECT_EQ(read_reply(), 100u);
}

TEST_F(StatusQueueTest, WhatIsGoneIsForgotten) {
  queue_.agents(agents({1}), now_);
  add("a");
  queue_.set_desired(desired("a"), now_);
  ASSERT_TRUE(queue_.next(now_, kNow));
  queue_.forget(key("a"));
  EXPECT_EQ(queue_.writing(), 0u);
  queue_.done(key("a"), WriteResult::kWritten, std::nullopt, now_);
  EXPECT_EQ(queue_.writing(), 0u);
  EXPECT_FALSE(queue_.next(now_, kNow));
}

TEST_F(StatusQueueTest, HealthIsWrittenWhenItTurnsNotWhenItWasChecked) {
  DesiredStatus made;
  made.key = key("be", "ProxyBackend");
  made.status =
      Json({{"conditions", Json::array()},
            {"endpoints",
             {{{"address", "10.0.0.1:80"}, {"healthy", true}}, {{"address", "10.0.0.2:80"}, {"healthy", true}}}}})
          .dump();
  queue_.observe(made.key, {"uid", "1", ""}, now_);
  queue_.set_desired(made, now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored_[made.key]["endpointSummary"], "2/2");
  const auto report = [&](bool healthy, std::string error, int seconds) {
    AgentsView view;
    view.backends["shop/be"]["10.0.0.2:80"] = {"10.0.0.2:80", healthy, WallTime(std::chrono::seconds(seconds)), error};
    queue_.agents(std::move(view), now_);
  };
  report(false, "n1: refused", 10);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored_[made.key]["healthyCount"], 1);
  EXPECT_EQ(stored_[made.key]["unhealthyCount"], 1);
  EXPECT_EQ(stored_[made.key]["endpoints"][1]["lastError"], "n1: refused");
  EXPECT_EQ(stored_[made.key]["conditions"][0]["status"], "True");
  report(false, "n1: refused", 20);
  EXPECT_EQ(read_reply(), 0u);
  // A reason that is another each time is told now and then.
  for (int second = 1; second < 10; ++second) {
    now_ += 1s;
    report(false, "n1: reset after " + std::to_string(second) + " bytes", 20 + second);
    EXPECT_EQ(read_reply(), 0u) << second;
    EXPECT_GT(queue_.due(), now_);
  }
  now_ += 1s;
  EXPECT_EQ(queue_.due(), now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored_[made.key]["endpoints"][1]["lastError"], "n1: reset after 9 bytes");
  // Health is told at once.
  report(true, "", 30);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored_[made.key]["endpointSummary"], "2/2");
}

TEST_F(StatusQueueTest, OfTwoBackendsOfOneNameEachHasItsCluster) {
  const ResourceId own = key("be", "ProxyBackend");
  ResourceId foreign = own;
  foreign.cluster = "berlin";
  for (const ResourceId& one : {own, foreign}) {
    DesiredStatus made;
    made.key = one;
    made.status =
        Json({{"conditions", Json::array()}, {"endpoints", {{{"address", "10.0.0.1:80"}, {"healthy", true}}}}}).dump();
    queue_.observe(one, {"uid", "1", ""}, now_);
    queue_.set_desired(made, now_);
  }
  EXPECT_EQ(read_reply(), 2u);
  AgentState agent;
  agent.connected = true;
  BackendHealth health;
  health.name_space = "berlin:shop";
  health.name = "be";
  health.endpoints = {{"10.0.0.1:80", false, WallTime(1s), "refused"}};
  queue_.agents(view_of({agent}, {health}, [](const std::string&) { return 0; }), now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored_[own]["endpointSummary"], "1/1");
  EXPECT_EQ(stored_[foreign]["endpointSummary"], "0/1");
}

TEST_F(StatusQueueTest, EntriesOfOtherControllersStay) {
  DesiredStatus made;
  made.key = key("h", "HTTPRoute");
  made.status = Json({{"parents",
                       {{{"parentRef", {{"name", "gw"}}},
                         {"controllerName", "edgeproxy.io/proxy"},
                         {"conditions", {condition("Accepted", "True", "Accepted")}}}}}})
                    .dump();
  const Json theirs = {
      {"parentRef", {{"name", "gw"}}}, {"controllerName", "example.com/x"}, {"conditions", Json::array()}};
  stored_[made.key] = {{"parents", {theirs}}};
  queue_.observe(made.key, observed(made.key), now_);
  queue_.set_desired(made, now_);
  EXPECT_EQ(read_reply(), 1u);
  ASSERT_EQ(stored_[made.key]["parents"].size(), 2u);
  EXPECT_EQ(stored_[made.key]["parents"][1], theirs);
  EXPECT_EQ(read_reply(), 0u);
}

TEST_F(StatusQueueTest, ConditionsOfOtherTypesStayOnListenersAndParents) {
  const Json theirs = condition("example.com/Scanned", "True", "Clean");
  const Json accepted = condition("Accepted", "True", "Accepted");
  const auto listener = [](const char* name, std::vector<Json> conditions) {
    return Json({{"name", name}, {"conditions", std::move(conditions)}});
  };
  const auto gateway_status = [](std::vector<Json> conditions, std::vector<Json> listeners) {
    return Json({{"conditions", std::move(conditions)}, {"listeners", std::move(listeners)}});
  };
  DesiredStatus gateway;
  gateway.key = key("gw", "Gateway");
  gateway.status = gateway_status({accepted}, {listener("http", {accepted}), listener("new", {accepted})}).dump();
  stored_[gateway.key] =
      gateway_status({theirs}, {listener("http", {condition("Conflicted", "True", "HostnameConflict"), theirs})});
  queue_.observe(gateway.key, observed(gateway.key), now_);
  queue_.set_desired(gateway, now_);
  EXPECT_EQ(read_reply(), 1u);
  const Json& listeners = stored_[gateway.key]["listeners"];
  EXPECT_EQ(stored_[gateway.key]["conditions"][1], theirs);
  ASSERT_EQ(listeners[0]["conditions"].size(), 2u) << "what was ours and holds no more is gone";
  EXPECT_EQ(listeners[0]["conditions"][1], theirs);
  EXPECT_EQ(listeners[1]["conditions"].size(), 1u);
  EXPECT_EQ(read_reply(), 0u);

  DesiredStatus route;
  route.key = key("h", "HTTPRoute");
  const Json parent = {{"parentRef", {{"name", "gw"}}}, {"controllerName", "edgeproxy.io/proxy"}};
  Json made = parent;
  made["conditions"] = Json::array({accepted});
  route.status = Json({{"parents", Json::array({made})}}).dump();
  Json stood = parent;
  stood["conditions"] = Json::array({theirs});
  stored_[route.key] = {{"parents", Json::array({stood})}};
  queue_.observe(route.key, observed(route.key), now_);
  queue_.set_desired(route, now_);
  EXPECT_EQ(read_reply(), 1u);
  ASSERT_EQ(stored_[route.key]["parents"][0]["conditions"].size(), 2u);
  EXPECT_EQ(stored_[route.key]["parents"][0]["conditions"][1], theirs);
}

TEST_F(StatusQueueTest, WhatTheCompilerFoundIsNotTheAgentsFault) {
  AgentsView view = agents({1, 2});
  view.refused = 2;
  view.refusal = "agent n1: its signature is another key's";
  queue_.agents(view, now_);
  DesiredStatus gateway;
  gateway.key = key("gw", "Gateway");
  gateway.servable = true;
  gateway.program = 2;
  gateway.status = Json({{"conditions", Json::array({condition("Programmed", "False", "AddressNotUsable")})}}).dump();
  queue_.observe(gateway.key, observed(gateway.key), now_);
  queue_.set_desired(gateway, now_);
  EXPECT_EQ(read_reply(), 1u);
  EXPECT_EQ(stored_[gateway.key]["conditions"][0]["reason"], "AddressNotUsable");
}

AgentState agent(const std::string& name, const std::string& program) {
  AgentState state;
  state.name = name;
  state.connected = true;
  state.program = program;
  return state;
}

TEST(AgentsView, CountsTheAgentsThatServe) {
  AgentState lags = agent("b", "p1");
  lags.refused.program = "p2";
  lags.refused.reason = "bad";
  AgentState away = agent("d", "p0");
  away.connected = false;
  const AgentsView view = view_of({agent("a", "p2"), lags, agent("c", ""), away}, {},
                                  [](const std::string& program) { return program == "p2" ? 2U : 1U; });
  EXPECT_THAT(view.programs, testing::ElementsAre(1, 2));
  EXPECT_TRUE(view.all_run(1));
  EXPECT_FALSE(view.all_run(2));
  EXPECT_EQ(view.running(2), 1u);
  EXPECT_EQ(view.refused, 2u);
  EXPECT_EQ(view.refusal, "agent b: bad");
  EXPECT_FALSE(AgentsView().all_run(0));
}

}  // namespace
}  // namespace edge::controller
