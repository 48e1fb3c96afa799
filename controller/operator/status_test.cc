#include "controller/operator/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::cluster_operator {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Canary = RolloutRecord::Canary;

Standing running() {
  Standing standing;
  standing.generation = 3;
  standing.version = "0.2.0";
  standing.controllers = standing.controllers_ready = 2;
  standing.agents = standing.agents_ready = 5;
  standing.controller_done = standing.agents_done = true;
  return standing;
}

std::string phase(const json& old, const Standing& standing) { return next_status(old, standing, WallTime())["phase"]; }

json condition(const json& status, const std::string& type) {
  for (const json& one : status["conditions"]) {
    if (one["type"] == type) return one;
  }
  return nullptr;
}

TEST(ClusterStatus, HasThePhaseOfItsParts) {
  const json fresh = nullptr;
  const json installed = {{"version", "0.1.0"}};
  Standing standing;
  EXPECT_EQ(phase(fresh, standing), "Pending");
  standing.controllers = standing.controllers_ready = 1;
  EXPECT_EQ(phase(fresh, standing), "Initializing");
  EXPECT_EQ(phase(fresh, running()), "Running");
  standing.exchanging = true;
  EXPECT_EQ(phase(installed, standing), "Upgrading");
  standing.exchanging = false;
  EXPECT_EQ(phase(installed, standing), "Degraded");
  standing.canary = Canary::kFailed;
  EXPECT_EQ(phase(installed, standing), "Degraded");
  standing.failure = "Deployment x: no";
  EXPECT_EQ(phase(fresh, standing), "Failed");
  EXPECT_EQ(phase(installed, standing), "Degraded");
  standing.fault = "spec.version takes";
  EXPECT_EQ(phase(installed, standing), "Failed");
}

TEST(ClusterStatus, HasTheVersionThatRuns) {
  Standing standing = running();
  json status = next_status({{"version", "0.1.0"}}, standing, WallTime());
  EXPECT_EQ(status["version"], "0.2.0");
  EXPECT_EQ(status["agents"]["summary"], "5/5");
  EXPECT_EQ(status["controller"]["ready"], 2);
  EXPECT_EQ(status["observedGeneration"], 3);
  standing.agents_done = false;
  EXPECT_EQ(next_status({{"version", "0.1.0"}}, standing, WallTime())["version"], "0.1.0");
}

TEST(ClusterStatus, KeepsTimesWhereNothingTurned) {
  const json first = next_status(nullptr, running(), WallTime(1h));
  const json later = next_status(first, running(), WallTime(2h));
  EXPECT_EQ(first, later);
  Standing standing = running();
  standing.controller_done = false;
  const json turned = next_status(first, standing, WallTime(3h));
  EXPECT_EQ(condition(turned, "Ready")["lastTransitionTime"], "1970-01-01T03:00:00Z");
}

TEST(ClusterStatus, SaysWhatHoldsItBack) {
  Standing standing = running();
  standing.definitions_reason = "Forbidden";
  standing.definitions_message = "definitions: no";
  standing.canary = Canary::kFailed;
  const json status = next_status(nullptr, standing, WallTime());
  EXPECT_EQ(condition(status, "DefinitionsOutdated")["reason"], "Forbidden");
  EXPECT_EQ(condition(status, "Canary")["reason"], "Failed");
  EXPECT_EQ(condition(status, "Ready")["reason"], "CanaryFailed");
}

TEST(ClusterStatus, CountsDashboardsThatAreWanted) {
  Standing standing = running();
  EXPECT_FALSE(next_status(nullptr, standing, WallTime()).contains("web"));
  standing.wants_dashboard = true;
  standing.dashboards = 1;
  json status = next_status({{"version", "0.1.0"}}, standing, WallTime());
  EXPECT_EQ(status["phase"], "Degraded");
  EXPECT_EQ(condition(status, "Ready")["message"], "waits for the dashboard");
  EXPECT_EQ(status["web"]["summary"], "0/1");
  standing.dashboards_ready = 1;
  standing.web_done = true;
  status = next_status(status, standing, WallTime());
  EXPECT_EQ(status["phase"], "Running");
  standing = running();
  EXPECT_EQ(next_status(status, standing, WallTime())["web"]["summary"], "0/0");
}

TEST(ClusterStatus, OfOneThatIsPausedStays) {
  const json before = next_status(nullptr, running(), WallTime(1h));
  Standing standing;
  standing.paused = true;
  standing.generation = 4;
  const json paused = next_status(before, standing, WallTime(2h));
  EXPECT_EQ(paused["phase"], "Running");
  EXPECT_EQ(paused["agents"], before["agents"]);
  EXPECT_EQ(condition(paused, "Paused")["status"], "True");
  EXPECT_EQ(paused["observedGeneration"], 4);
  EXPECT_EQ(condition(next_status(paused, running(), WallTime(3h)), "Paused"), nullptr);
}

}  // namespace
}  // namespace edge::cluster_operator
