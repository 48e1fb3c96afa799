#include "edgectl/observe/traffic.h"

#include <cmath>

#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

TrafficCounts counts(const char* text) { return traffic_counts(read_exposition(text, traffic_families())); }

TEST(Traffic, IsTheDifferenceOfTwoLooks) {
  const auto before = counts(
      "edge_requests_total{gateway=\"d/e\",route=\"d/cart\",backend=\"d/pay\",code=\"2xx\"} 100\n"
      "edge_requests_total{gateway=\"d/e\",route=\"d/old\",backend=\"d/pay\",code=\"2xx\"} 7\n");
  const auto after = counts(
      "edge_requests_total{gateway=\"d/e\",route=\"d/cart\",backend=\"d/pay\",code=\"2xx\"} 118\n"
      "edge_requests_total{gateway=\"d/e\",route=\"d/cart\",backend=\"d/pay\",code=\"5xx\"} 1\n"
      "edge_requests_total{gateway=\"d/e\",route=\"d/cart\",backend=\"\",code=\"none\"} 1\n"
      "edge_request_duration_seconds_bucket{gateway=\"d/e\",route=\"d/cart\",le=\"0.01\"} 10\n"
      "edge_request_duration_seconds_bucket{gateway=\"d/e\",route=\"d/cart\",le=\"0.1\"} 20\n"
      "edge_request_duration_seconds_bucket{gateway=\"d/e\",route=\"d/cart\",le=\"+Inf\"} 20\n"
      "edge_requests_total{gateway=\"d/e\",route=\"d/old\",backend=\"d/pay\",code=\"2xx\"} 7\n"
      "edge_requests_total{gateway=\"d/e\",route=\"d/new\",backend=\"d/pay\",code=\"2xx\"} 40\n");
  Traffic traffic;
  traffic.add(before, after, 2);
  const auto routes = traffic.routes();
  ASSERT_EQ(routes.size(), 2u);
  EXPECT_EQ(routes[0].name.route, "d/new");
  EXPECT_EQ(routes[0].rate, 20);
  EXPECT_TRUE(std::isnan(routes[0].p99));
  EXPECT_EQ(routes[1].name.route, "d/cart");
  EXPECT_EQ(routes[1].rate, 10);
  EXPECT_DOUBLE_EQ(routes[1].error_part, 0.1);
  EXPECT_DOUBLE_EQ(routes[1].p50, 0.01);
  EXPECT_NEAR(routes[1].p99, 0.0982, 1e-9);
}

TEST(Traffic, OfSeveralAgentsIsTheirSumAndOneThatStartedAnewCountsFromZero) {
  const auto line = [](int count) {
    return "edge_requests_total{gateway=\"d/e\",route=\"d/cart\",code=\"2xx\"} " + std::to_string(count) + "\n";
  };
  Traffic traffic;
  traffic.add(counts(line(10).c_str()), counts(line(30).c_str()), 1);
  traffic.add(counts(line(500).c_str()), counts(line(5).c_str()), 1);
  ASSERT_EQ(traffic.routes().size(), 1u);
  EXPECT_EQ(traffic.routes()[0].rate, 25);
}

TEST(Quantile, LiesWithinItsBucket) {
  const double infinite = HUGE_VAL;
  EXPECT_TRUE(std::isnan(quantile(0.5, {})));
  EXPECT_TRUE(std::isnan(quantile(0.5, {{1, 0}, {infinite, 0}})));
  EXPECT_DOUBLE_EQ(quantile(0.5, {{1, 10}, {2, 10}, {infinite, 10}}), 0.5);
  EXPECT_DOUBLE_EQ(quantile(0.99, {{1, 0}, {infinite, 10}}), 1);
}

}  // namespace
}  // namespace edge::edgectl
