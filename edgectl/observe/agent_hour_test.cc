#include "edgectl/observe/agent_hour.h"

#include <cmath>

#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

std::string page(const std::string& rows, const std::string& covered = "10") {
  return R"({"covered":)" + covered +
         R"(,"bounds":[0.01,0.1],"program":"abcdef","connections":3,"cpuSeconds":2,"residentBytes":1048576,"total":{},)"
         R"("rows":[)" +
         rows +
         R"(],"backends":[{"name":"d/be","healthyEndpoints":1,"endpoints":2,"circuit":"Open","connections":4,)"
         R"("retries":5,"ejections":1}]})";
}

AgentHour hour(const char* agent, const std::string& text) {
  auto read = read_agent_hour(agent, text);
  EXPECT_TRUE(read);
  return *read;
}

const std::string kCart =
    R"({"gateway":"d/gw","route":"d/cart","backend":"d/be","requests":[1,0,16,0,2,1],"durations":[10,10,0],)"
    R"("requestBytes":100,"responseBytes":2000})";

TEST(AgentHour, TablesAreOfAllAgentsAddedUp) {
  const std::vector<AgentHour> agents = {hour("one", page(kCart)), hour("two", page(kCart, "20"))};
  EXPECT_EQ(metric_text(route_table(), hour_rows(route_table(), agents)),
            "GATEWAY   ROUTE    REQUESTS/S   4XX   5XX   P50    P99      RECEIVED/S   SENT/S\n"
            "d/gw      d/cart   3            10%   10%   10ms   98.2ms   15B          300B\n");
  EXPECT_EQ(metric_text(backend_table(), hour_rows(backend_table(), agents)),
            "BACKEND   REQUESTS/S   4XX   5XX   P50    P99      HEALTHY   ENDPOINTS   CIRCUIT   CONNECTIONS   RETRIES/S"
            "   EJECTED\n"
            "d/be      3            10%   10%   10ms   98.2ms   1         2           Open      8             0.75     "
            "   2\n");
  EXPECT_EQ(metric_text(gateway_table(), hour_rows(gateway_table(), agents)),
            "GATEWAY   REQUESTS/S   4XX   5XX   P50    P99      RECEIVED/S   SENT/S\n"
            "d/gw      3            10%   10%   10ms   98.2ms   15B          300B\n");
  const std::string text = metric_text(agent_table(), hour_rows(agent_table(), agents));
  EXPECT_NE(text.find("one     abcdef    3             0.2   1MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("two     abcdef    3             0.1   1MiB"), std::string::npos) << text;
}

TEST(AgentHour, WithoutRequestsNothingIsDividedByThem) {
  const std::vector<AgentHour> agents = {hour("one", page(""))};
  EXPECT_TRUE(hour_rows(route_table(), agents).empty());
  const auto rows = hour_rows(backend_table(), agents);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].cells[0].known);
  EXPECT_EQ(rows[0].cells[0].value, 0);
  EXPECT_FALSE(rows[0].cells[1].known);
}

TEST(AgentHour, WhatIsNoSuchPageIsToldByItsAgent) {
  for (const char* text : {"", "[]", "{}", "{\"rows\":1}", "not found\n"}) {
    EXPECT_EQ(read_agent_hour("one", text).error().text, "one: what it says of its traffic cannot be read") << text;
    EXPECT_FALSE(read_agent_line("one", text)) << text;
  }
  // Of whatever types its members are.
  EXPECT_EQ(hour("one", R"({"rows":[1,{"gateway":2,"requests":"x"}],"bounds":{},"covered":"1"})").rows.size(), 2u);
}

TEST(AgentHour, ALineIsOfAllAgentsPointByPoint) {
  const auto points = [](int count) {
    return *read_agent_line(
        "one", R"({"bounds":[0.01],"points":[{"ago":1,"covered":0},{"ago":0,"covered":2,"requests":[0,0,)" +
                   std::to_string(count) + R"(],"durations":[1,0],"connections":3}]})");
  };
  const std::vector<std::vector<HourPoint>> agents = {points(10), points(20)};
  const auto sum = sum_of(agents);
  ASSERT_EQ(sum.size(), 2u);
  EXPECT_EQ(sum[0].covered, 0);
  EXPECT_EQ(sum[1].counts.requests(), 15);
  EXPECT_EQ(sum[1].connections, 6);
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
