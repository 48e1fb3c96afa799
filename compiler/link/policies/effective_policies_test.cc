#include "compiler/link/policies/effective_policies.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::compiler::link {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A gateway and a route with policies of these types, enforced unless said otherwise; indices count from the
/// gateway's first to the route's last.
struct Pair {
  Pair(const std::vector<PolicyType>& gateway, const std::vector<PolicyType>& own) {
    config.gateways.emplace_back();
    config.listeners.emplace_back();
    for (const PolicyType type : gateway) config.gateways[0].policies.push_back(add(type));
    for (const PolicyType type : own) route.policies.push_back(add(type));
  }
  std::uint32_t add(PolicyType type) {
    LinkedPolicy& policy = config.policies.emplace_back();
    policy.type = type;
    policy.enforced = type != PolicyType::kUnknown;
    return static_cast<std::uint32_t>(config.policies.size() - 1);
  }
  std::vector<std::uint32_t> effective() const { return effective_policies(config, 0, route); }

  LinkedConfig config;
  LinkedRoute route;
};

TEST(EffectivePolicies, AreInTheOrderOfRuleD4) {
  const Pair pair({PolicyType::kSecurityHeaders, PolicyType::kJwt}, {PolicyType::kCors, PolicyType::kRateLimit});
  EXPECT_THAT(pair.effective(), ElementsAre(3, 1, 2, 0));
  EXPECT_FALSE(denied_on(pair.config, 0, pair.route));
}

TEST(EffectivePolicies, TheRoutesReplacesTheGatewaysOfTheSameType) {
  const Pair pair({PolicyType::kRateLimit, PolicyType::kCors}, {PolicyType::kCors});
  EXPECT_THAT(pair.effective(), ElementsAre(0, 2));
  EXPECT_THAT(Pair({}, {}).effective(), IsEmpty());
}

TEST(EffectivePolicies, WhatIsReplacedDeniesNoMore) {
  Pair pair({PolicyType::kJwt}, {PolicyType::kJwt});
  pair.config.policies[0].enforced = false;
  EXPECT_FALSE(denied_on(pair.config, 0, pair.route));
  pair.config.policies[1].enforced = false;
  EXPECT_TRUE(denied_on(pair.config, 0, pair.route));
}

TEST(EffectivePolicies, OnlyWhatProtectsDenies) {
  Pair pair({}, {PolicyType::kCors, PolicyType::kSecurityHeaders});
  for (LinkedPolicy& policy : pair.config.policies) policy.enforced = false;
  EXPECT_FALSE(denied_on(pair.config, 0, pair.route));
}

TEST(EffectivePolicies, OneOfUnknownTypeReplacesNoneAndIsReplacedByNone) {
  const Pair pair({PolicyType::kUnknown, PolicyType::kJwt}, {PolicyType::kUnknown, PolicyType::kJwt});
  EXPECT_THAT(pair.effective(), ElementsAre(0, 2, 3));
  EXPECT_TRUE(denied_on(pair.config, 0, pair.route));
}

}  // namespace
}  // namespace edge::compiler::link
