#include "edgectl/agents/request_filter.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using Text = RequestFilter::Text;

const Json kLine = {{"method", "GET"},         {"path", "/cart/7"}, {"backend", "shop/cart"},
                    {"client", "203.0.113.7"}, {"total_ms", 12.5},  {"status", 200}};

bool wants(const Text& text, const Json& line = kLine) {
  const auto filter = RequestFilter::read(text);
  EXPECT_TRUE(filter.ok());
  return filter.ok() && filter->wants(line);
}

bool is_refused(const Text& text) {
  const auto filter = RequestFilter::read(text);
  return !filter.ok() && filter.error().code == ErrorCode::kInvalidArgument;
}

TEST(RequestFilter, WithoutAnythingTakesAll) {
  EXPECT_TRUE(RequestFilter::read({})->all());
  EXPECT_TRUE(wants({}));
  EXPECT_FALSE(RequestFilter::read({.method = "GET"})->all());
}

TEST(RequestFilter, ByMethod) {
  EXPECT_TRUE(wants({.method = "get"}));
  EXPECT_FALSE(wants({.method = "POST"}));
  EXPECT_FALSE(wants({.method = "GE"}));
}

TEST(RequestFilter, ByPath) {
  EXPECT_TRUE(wants({.path = "/cart/7"}));
  EXPECT_TRUE(wants({.path = "/cart/"}));
  EXPECT_TRUE(wants({.path = "/"}));
  EXPECT_FALSE(wants({.path = "/cart"}));
  EXPECT_FALSE(wants({.path = "/cart/7*"}));
  EXPECT_TRUE(is_refused({.path = "cart"}));
}

TEST(RequestFilter, ByBackend) {
  EXPECT_TRUE(wants({.backend = "cart"}));
  EXPECT_TRUE(wants({.backend = "shop/cart"}));
  EXPECT_FALSE(wants({.backend = "art"}));
  EXPECT_FALSE(wants({.backend = "other/cart"}));
}

TEST(RequestFilter, ByClient) {
  EXPECT_TRUE(wants({.client = "203.0.113.7"}));
  EXPECT_TRUE(wants({.client = "203.0.113.0/24"}));
  EXPECT_FALSE(wants({.client = "203.0.113.8"}));
  EXPECT_FALSE(wants({.client = "2001:db8::/32"}));
  EXPECT_TRUE(is_refused({.client = "203.0.113"}));
  EXPECT_TRUE(is_refused({.client = "203.0.113.7/33"}));
}

TEST(RequestFilter, ByDuration) {
  EXPECT_TRUE(wants({.min_duration = "12500us"}));
  EXPECT_FALSE(wants({.min_duration = "12501us"}));
  EXPECT_TRUE(is_refused({.min_duration = "slow"}));
}

// What an agent says is no more to be trusted than what a user types.
TEST(RequestFilter, OddLinesAreNotWanted) {
  for (const char* odd : {"[]", "7", "{}", R"({"method":7,"path":null,"client":{},"total_ms":"x"})"}) {
    const Json line = Json::parse(odd);
    EXPECT_FALSE(wants({.method = "GET"}, line)) << odd;
    EXPECT_FALSE(wants({.path = "/"}, line)) << odd;
    EXPECT_FALSE(wants({.backend = "a"}, line)) << odd;
    EXPECT_FALSE(wants({.client = "::/0"}, line)) << odd;
    EXPECT_FALSE(wants({.min_duration = "1ms"}, line)) << odd;
  }
  EXPECT_FALSE(wants({.path = "/\"\r\n%00\x1b[2J"}));
}

}  // namespace
}  // namespace edge::edgectl
