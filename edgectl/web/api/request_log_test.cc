#include "edgectl/web/api/request_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Requests : public testing::Test {
 protected:
  Requests() {
    log_.add(
        "one",
        R"({"seq":1,"time":"a","client":"10.0.0.1","method":"GET","host":"shop.example","path":"/cart","status":200,"gateway":"edge/web","listener":"http","route":"shop/cart","backend":"shop/cart","total_ms":12.5})");
    log_.add(
        "two",
        R"({"seq":7,"time":"b","client":"10.0.1.1","method":"POST","host":"api.example","path":"/v1","status":503,"gateway":"edge/web","listener":"http","route":"api/orders","total_ms":300.0})");
    log_.add("one",
             R"({"seq":2,"time":"c","client":"::1","method":"GET","host":"other.example","path":"/","status":404})");
    log_.add("one", "no object");
    log_.add("one", "{}");
  }
  std::vector<int> found(
      const std::string& text, const RequestLog::MaySee& may_see = [](const auto&) { return true; }) {
    const auto query = read_request_query(text);
    if (!query) return {-1};
    last_ = parse_json(log_.find(*query, [](const auto&, const auto&) { return 8080U; }, may_see));
    std::vector<int> ids;
    for (const nlohmann::json& line : last_["lines"]) ids.push_back(line["id"].get<int>());
    return ids;
  }

  RequestLog log_{cli::Arguments()};
  nlohmann::json last_;
};

TEST_F(Requests, AreFoundByWhatTheyWere) {
  EXPECT_THAT(found(""), ElementsAre(1, 2, 3));
  EXPECT_EQ(last_["lines"][0]["agent"], "one");
  EXPECT_EQ(last_["lines"][0]["port"], 8080);
  EXPECT_EQ(last_["lines"][0]["path"], "/cart");
  EXPECT_THAT(found("host=SHOP"), ElementsAre(1));
  EXPECT_THAT(found("route=cart"), ElementsAre(1));
  EXPECT_THAT(found("route=shop/cart"), ElementsAre(1));
  EXPECT_THAT(found("route=shop"), IsEmpty());
  EXPECT_THAT(found("gateway=web&method=post"), ElementsAre(2));
  EXPECT_THAT(found("status=4xx"), ElementsAre(3));
  EXPECT_THAT(found("status=503"), ElementsAre(2));
  EXPECT_THAT(found("client=10.0.0.0/16"), ElementsAre(1, 2));
  EXPECT_THAT(found("client=%3A%3A1"), ElementsAre(3));
  EXPECT_THAT(found("minDuration=100ms"), ElementsAre(2));
  EXPECT_THAT(found("path=v1"), ElementsAre(2));
}

TEST_F(Requests, AreFollowedByNumber) {
  EXPECT_THAT(found("limit=1"), ElementsAre(3));
  EXPECT_EQ(last_["more"], true);
  EXPECT_THAT(found("after=1&limit=1"), ElementsAre(2));
  EXPECT_EQ(last_["next"], 2);
  EXPECT_THAT(found("after=2"), ElementsAre(3));
  EXPECT_THAT(found("after=3"), IsEmpty());
  EXPECT_EQ(last_["next"], 3);
  // A server that was started anew counts from 1.
  EXPECT_THAT(found("after=99"), ElementsAre(1, 2, 3));
}

TEST_F(Requests, AreKeptUpToABound) {
  for (std::size_t i = 0; i < RequestLog::kMostLines; ++i) log_.add("one", R"({"seq":9,"status":200})");
  EXPECT_THAT(found("after=1&limit=1"), ElementsAre(4));
  EXPECT_EQ(last_["missed"], 2);
  EXPECT_EQ(last_["kept"], RequestLog::kMostLines);
  const std::string large = R"({"seq":1,"path":")" + std::string(RequestLog::kMostBytes / 2, 'x') + R"("})";
  for (int i = 0; i < 4; ++i) log_.add("one", large);
  found("limit=1");
  EXPECT_LE(last_["kept"], 2);
}

TEST_F(Requests, OfOthersRoutesAreNotTold) {
  EXPECT_THAT(found("", [](const std::string& route) { return route == "shop/cart"; }), ElementsAre(1));
}

TEST_F(Requests, ParametersThatAreWrongAreTold) {
  for (const char* wrong : {"status=6xx", "status=0", "status=abc", "client=10.0.0", "minDuration=5", "after=-1",
                            "limit=0", "limit=1001", "nothing=1", "host=%zz"}) {
    const auto query = read_request_query(wrong);
    ASSERT_FALSE(query.ok()) << wrong;
    EXPECT_EQ(query.error().code, ErrorCode::kInvalidArgument) << wrong;
  }
}

}  // namespace
}  // namespace edge::edgectl::web
