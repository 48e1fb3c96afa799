// Every transition of the table "Endpoint health".
#include "runtime/upstream/health/health.h"

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

constexpr HealthThresholds kThresholds{.healthy = 2, .unhealthy = 3};

TEST(EndpointHealth, AnInitialOneBecomesHealthyWithTheLastOfTheSuccessesThatAreAskedFor) {
  EndpointHealth health;
  EXPECT_EQ(health.health(), Health::kInitial);
  EXPECT_FALSE(health.checked(true, kThresholds));
  EXPECT_EQ(health.health(), Health::kInitial);
  EXPECT_TRUE(health.checked(true, kThresholds));
  EXPECT_EQ(health.health(), Health::kHealthy);
  EXPECT_FALSE(health.checked(true, kThresholds)) << "nothing new";
}

TEST(EndpointHealth, AnInitialOneBecomesUnhealthyToo) {
  EndpointHealth health;
  EXPECT_FALSE(health.checked(false, kThresholds));
  EXPECT_FALSE(health.checked(false, kThresholds));
  EXPECT_TRUE(health.checked(false, kThresholds));
  EXPECT_EQ(health.health(), Health::kUnhealthy);
}

TEST(EndpointHealth, AHealthyOneBearsOneFailureLessThanTheThreshold) {
  EndpointHealth health;
  for (int i = 0; i < 2; ++i) health.checked(true, kThresholds);
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(health.checked(false, kThresholds));
  EXPECT_EQ(health.health(), Health::kHealthy);
  EXPECT_TRUE(health.checked(false, kThresholds));
  EXPECT_EQ(health.health(), Health::kUnhealthy);
}

TEST(EndpointHealth, OneSuccessBreaksARunOfFailures) {
  EndpointHealth health;
  for (int i = 0; i < 2; ++i) health.checked(true, kThresholds);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(health.checked(false, kThresholds));
    EXPECT_FALSE(health.checked(false, kThresholds));
    EXPECT_FALSE(health.checked(true, kThresholds));
  }
  EXPECT_EQ(health.health(), Health::kHealthy);
}

TEST(EndpointHealth, AnUnhealthyOneRecoversAndOneFailureBreaksItsRun) {
  EndpointHealth health;
  for (int i = 0; i < 3; ++i) health.checked(false, kThresholds);
  EXPECT_FALSE(health.checked(true, kThresholds));
  EXPECT_FALSE(health.checked(false, kThresholds));
  EXPECT_FALSE(health.checked(true, kThresholds));
  EXPECT_EQ(health.health(), Health::kUnhealthy);
  EXPECT_TRUE(health.checked(true, kThresholds));
  EXPECT_EQ(health.health(), Health::kHealthy);
}

TEST(EndpointHealth, ThresholdsOfOneDecideAtOnce) {
  EndpointHealth health;
  EXPECT_TRUE(health.checked(false, {1, 1}));
  EXPECT_TRUE(health.checked(true, {1, 1}));
  EXPECT_EQ(health.health(), Health::kHealthy);
}

}  // namespace
}  // namespace edge::runtime
