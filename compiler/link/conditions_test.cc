#include "compiler/link/conditions.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::compiler {
namespace {

Condition made(std::string_view type, ConditionStatus status, std::string_view reason, std::string message = {}) {
  return {std::string(type), status, std::string(reason), std::move(message)};
}

/// `Type=Status Reason`, each on a line.
std::string text(const std::vector<Condition>& conditions) {
  std::string out;
  for (const Condition& condition : conditions) {
    out += condition.type + (condition.status == ConditionStatus::kTrue ? "=True " : "=False ") + condition.reason +
           (condition.message.empty() ? "" : ": " + condition.message) + "\n";
  }
  return out;
}

TEST(Conditions, AFineResourceStoresNothing) {
  EXPECT_EQ(text(conditions_of("ProxyRoute", nullptr)),
            "Accepted=True Accepted\nProgrammed=True Programmed\nResolvedRefs=True ResolvedRefs\nReady=True Valid\n");
}

TEST(Conditions, ReadyTellsTheFirstFault) {
  ResourceStatus status;
  set_condition(status.conditions,
                made(condition::kResolvedRefs, ConditionStatus::kFalse, reason::kBackendNotFound, "no backend"));
  EXPECT_EQ(text(conditions_of("ProxyRoute", &status)),
            "Accepted=True Accepted\nProgrammed=True Programmed\nResolvedRefs=False BackendNotFound: no backend\n"
            "Ready=False BackendNotFound: no backend\n");
}

TEST(Conditions, WhatIsNotAcceptedIsNotProgrammed) {
  ResourceStatus status;
  set_condition(status.conditions, made(condition::kAccepted, ConditionStatus::kFalse, reason::kInvalid, "odd"));
  EXPECT_EQ(text(conditions_of("ProxyRoute", &status)),
            "Accepted=False Invalid: odd\nProgrammed=False Invalid: the ProxyRoute is not accepted\n"
            "ResolvedRefs=True ResolvedRefs\nReady=False Invalid: odd\n");
}

TEST(Conditions, AGatewayIsReadyWhenEachOfItsListenersIs) {
  ResourceStatus status{.kind = "ProxyGateway", .name_space = "demo", .name = "edge"};
  status.listeners.push_back({.name = "good"});
  status.listeners.push_back({.name = "bad"});
  EXPECT_EQ(conditions_of("ProxyGateway", &status).back().status, ConditionStatus::kTrue);
  status.listeners[1].conditions.push_back({std::string(condition::kResolvedRefs), ConditionStatus::kFalse,
                                            std::string(reason::kInvalidCertificateRef), "no certificate"});
  const Condition ready = conditions_of("ProxyGateway", &status).back();
  EXPECT_EQ(ready.type, condition::kReady);
  EXPECT_EQ(ready.status, ConditionStatus::kFalse);
  EXPECT_EQ(ready.reason, reason::kInvalidCertificateRef);
  EXPECT_EQ(ready.message, "listener `bad`: no certificate");
}

TEST(Conditions, AShadowedRouteIsReady) {
  ResourceStatus status;
  set_condition(status.conditions, made(condition::kShadowed, ConditionStatus::kTrue, reason::kShadowed, "by a"));
  const std::vector<Condition> all = conditions_of("ProxyRoute", &status);
  EXPECT_EQ(all.back().type, condition::kReady);
  EXPECT_EQ(all.back().status, ConditionStatus::kTrue);
  EXPECT_EQ(all[3].type, condition::kShadowed);
}

TEST(Conditions, FaultsOfParentsAreTheRoutes) {
  ResourceStatus status;
  status.parents.push_back(
      {1, {made(condition::kAccepted, ConditionStatus::kFalse, reason::kNoMatchingParent, "gone")}});
  EXPECT_EQ(conditions_of("ProxyRoute", &status).back().reason, reason::kNoMatchingParent);
}

TEST(Conditions, TheFirstFaultIsKept) {
  std::vector<Condition> conditions;
  set_condition(conditions, made(condition::kResolvedRefs, ConditionStatus::kTrue, reason::kResolvedRefs));
  set_condition(conditions, made(condition::kResolvedRefs, ConditionStatus::kFalse, reason::kSecretNotFound));
  set_condition(conditions, made(condition::kResolvedRefs, ConditionStatus::kFalse, reason::kBackendNotFound));
  set_condition(conditions, made(condition::kResolvedRefs, ConditionStatus::kTrue, reason::kResolvedRefs));
  EXPECT_EQ(text(conditions), "ResolvedRefs=False SecretNotFound\n");
  // Of these True is the bad news.
  set_condition(conditions, made(condition::kConflicted, ConditionStatus::kTrue, reason::kHostnameConflict));
  set_condition(conditions, made(condition::kConflicted, ConditionStatus::kFalse, reason::kNoConflicts));
  EXPECT_EQ(find_condition(conditions, condition::kConflicted)->reason, reason::kHostnameConflict);
  EXPECT_EQ(find_condition(conditions, condition::kReady), nullptr);
}

TEST(Conditions, StatusesAreSortedMergedAndFound) {
  const auto status = [](std::string kind, std::string name, std::string_view type) {
    ResourceStatus out{.kind = std::move(kind), .name_space = "shop", .name = std::move(name)};
    set_condition(out.conditions, made(type, ConditionStatus::kFalse, reason::kInvalid));
    return out;
  };
  std::vector<ResourceStatus> statuses = {
      status("ProxyRoute", "b", condition::kAccepted), status("ProxyRoute", "a", condition::kAccepted),
      status("ProxyBackend", "z", condition::kResolvedRefs), status("ProxyRoute", "b", condition::kResolvedRefs)};
  sort_and_merge(statuses);
  ASSERT_EQ(statuses.size(), 3U);
  EXPECT_EQ(statuses[0].name, "z");
  ASSERT_NE(find_status(statuses, "ProxyRoute", "shop", "b"), nullptr);
  EXPECT_EQ(find_status(statuses, "ProxyRoute", "shop", "b")->conditions.size(), 2U);
  EXPECT_EQ(find_status(statuses, "ProxyRoute", "shop", "c"), nullptr);
  EXPECT_EQ(find_status(statuses, "ProxyRoute", "other", "b"), nullptr);
}

}  // namespace
}  // namespace edge::compiler
