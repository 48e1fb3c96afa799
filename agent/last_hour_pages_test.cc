#include "agent/last_hour_pages.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::agent {
namespace {

using nlohmann::json;

runtime::BackendStatus open_cart() {
  runtime::BackendStatus backend;
  backend.name_space = "shop";
  backend.name = "cart";
  backend.circuit = runtime::Circuit::State::kOpen;
  backend.retries = 4;
  backend.endpoints.push_back({.address = {*parse_ip("10.0.0.1"), 80}, .last_error = {}});
  return backend;
}

runtime::RequestSum answered(std::uint64_t well, std::uint64_t failed) {
  runtime::RequestSum sum;
  sum.by_class[2] = well;
  sum.by_class[5] = failed;
  sum.durations[3] = well + failed;
  sum.response_bytes = well * 10;
  return sum;
}

class LastHourPagesTest : public testing::Test {
 protected:
  json traffic(const std::string& query) {
    const std::vector<runtime::BackendStatus> backends = {open_cart()};
    const auto reply = pages_.traffic(query, backends, "abc");
    EXPECT_EQ(reply.status, 200);
    return parse_json(reply.body);
  }

  runtime::RequestSums sums_;
  LastHourPages pages_{[this] {
    const std::vector<runtime::BackendStatus> backends = {open_cart()};
    return traffic_reading(sums_, backends, 3);
  }};
};

TEST_F(LastHourPagesTest, TellWhatCameByGatewayRouteAndBackend) {
  sums_.rows[{"shop/gw", "shop/cart", "shop/cart"}] = answered(8, 2);
  sums_.rows[{"shop/gw", "shop/none", ""}] = answered(1, 0);
  const json said = traffic("window=5m");
  EXPECT_GT(said["covered"].get<double>(), 0);
  EXPECT_LT(said["covered"].get<double>(), 60);
  EXPECT_EQ(said["program"], "abc");
  EXPECT_EQ(said["connections"], 3);
  EXPECT_GT(said["residentBytes"].get<std::uint64_t>(), 0u);
  EXPECT_EQ(said["bounds"].size() + 1, said["total"]["durations"].size());
  ASSERT_EQ(said["rows"].size(), 2u);
  EXPECT_EQ(said["rows"][0]["route"], "shop/cart");
  EXPECT_EQ(said["rows"][0]["requests"], json::array({0, 0, 8, 0, 0, 2}));
  EXPECT_EQ(said["rows"][0]["responseBytes"], 80);
  EXPECT_EQ(said["total"]["requests"], json::array({0, 0, 9, 0, 0, 2}));
  ASSERT_EQ(said["backends"].size(), 1u);
  EXPECT_EQ(said["backends"][0]["name"], "shop/cart");
  EXPECT_EQ(said["backends"][0]["circuit"], "Open");
  EXPECT_EQ(said["backends"][0]["healthyEndpoints"], 1);
  // It has retried before the hour began.
  EXPECT_EQ(said["backends"][0]["retries"], 0);
}

TEST_F(LastHourPagesTest, TellItOverTime) {
  sums_.rows[{"shop/gw", "shop/cart", "shop/cart"}] = answered(8, 2);
  sums_.rows[{"shop/gw", "shop/none", ""}] = answered(1, 0);
  const json all = parse_json(pages_.line("range=1m&points=3").body);
  ASSERT_EQ(all["points"].size(), 3u);
  EXPECT_EQ(all["step"], 20);
  EXPECT_EQ(all["points"][0]["covered"], 0);
  EXPECT_FALSE(all["points"][0].contains("requests"));
  EXPECT_EQ(all["points"][2]["requests"], json::array({0, 0, 9, 0, 0, 2}));
  EXPECT_EQ(all["points"][2]["connections"], 3);
  const json one = parse_json(pages_.line("range=1m&points=3&route=shop%2Fnone").body);
  EXPECT_EQ(one["points"][2]["requests"], json::array({0, 0, 1, 0, 0, 0}));
}

TEST_F(LastHourPagesTest, RefuseWhatTheyDoNotHave) {
  for (const char* query : {"window=0s", "window=2h", "window=soon", "window="}) {
    EXPECT_EQ(pages_.traffic(query, {}, "").status, 400) << query;
  }
  for (const char* query : {"range=0s", "range=61m", "points=0", "points=721", "points=x"}) {
    EXPECT_EQ(pages_.line(query).status, 400) << query;
  }
  EXPECT_EQ(pages_.line("range=1h&points=720").status, 200);
}

TEST(TroublesDocument, ListsThem) {
  const HealthLog::Troubles troubles{{{"backend a", "backend a \xff is down", {}}}, 3};
  const json said = parse_json(troubles_document(troubles));
  EXPECT_EQ(said["more"], 3);
  EXPECT_EQ(said["troubles"][0]["since"], "1970-01-01T00:00:00.000Z");
}

}  // namespace
}  // namespace edge::agent
