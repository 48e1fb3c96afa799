#include "agent/install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/metrics.h"

namespace edge::agent {
namespace {

program::BackendEndpoints backend(std::uint64_t id, std::uint16_t port) {
  return {.backend_id = id, .name_space = "demo", .name = "b", .endpoints = {{.address = {}, .port = port}}};
}

TEST(United, KeepsBackendsThatGoAndTakesTheNewAddressesOfThoseThatStay) {
  const program::EndpointSet previous{{backend(1, 10), backend(2, 20)}};
  const program::EndpointSet next{{backend(2, 21), backend(3, 30)}};
  EXPECT_EQ(united(next, previous), (program::EndpointSet{{backend(1, 10), backend(2, 21), backend(3, 30)}}));
  EXPECT_EQ(united({}, previous), previous);
  EXPECT_EQ(united(next, {}), next);
}

TEST(Metrics, AreOneSampleALineUnderTheirFamily) {
  runtime::ServerStats stats;
  stats.requests = 7;
  stats.responses[2] = 5;
  const std::string text = metrics_text(stats, {.installed = 2, .refused = 1}, "abc");
  EXPECT_THAT(text, testing::HasSubstr("# TYPE edge_requests_total counter\nedge_requests_total 7\n"));
  EXPECT_THAT(text, testing::HasSubstr("edge_responses_total{class=\"2xx\"} 5\n"));
  EXPECT_THAT(text, testing::HasSubstr("edge_program_info{hash=\"abc\"} 1\n"));
  EXPECT_THAT(metrics_text(stats, {}, ""), testing::Not(testing::HasSubstr("edge_program_info{")));
}

}  // namespace
}  // namespace edge::agent
