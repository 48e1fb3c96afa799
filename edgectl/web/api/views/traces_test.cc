#include "edgectl/web/api/views/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TraceSearches, AreRead) {
  const auto search = read_trace_search("service=edge&lookback=15m&tag=http.status_code%3D503&limit=7", 2'000'000'000);
  ASSERT_TRUE(search.ok());
  EXPECT_EQ(search->service, "edge");
  EXPECT_EQ(search->start_us, 2'000'000'000 - std::int64_t{900} * 1'000'000);
  EXPECT_EQ(search->tags.front().second, "503");
  EXPECT_EQ(search->limit, 7U);
  for (const char* wrong : {"lookback=15", "minDuration=x", "tag=x", "tag==x", "limit=0", "limit=501", "nothing=1"}) {
    EXPECT_FALSE(read_trace_search(wrong, 0).ok()) << wrong;
  }
}

TEST(TraceReplies, CountFromTheStartAndLeaveOutSecrets) {
  Trace trace{.id = "1"};
  trace.spans.push_back(
      {.id = "b", .parent = "a", .service = "s", .operation = "try", .start_us = 1'500, .duration_us = 200});
  trace.spans.push_back({.id = "a", .service = "s", .operation = "GET", .start_us = 1'000, .duration_us = 900});
  trace.spans.back().tags = {{"http.request.header.authorization", "Bearer planted"},
                             {"session_token", "planted"},
                             {"http.url", "https://ann:planted@example.org/x"},
                             {"edge.route", "shop/cart"}};
  const std::string text = trace_reply(trace);
  const nlohmann::json reply = parse_json(text);
  EXPECT_EQ(reply["spans"][0]["offsetMicros"], 500);
  EXPECT_EQ(reply["spans"][1]["offsetMicros"], 0);
  EXPECT_EQ(reply["durationMicros"], 900);
  EXPECT_THAT(text, Not(HasSubstr("planted")));
  EXPECT_THAT(text, HasSubstr("shop/cart"));
}

TEST(TraceReplies, AreBounded) {
  Trace trace{.id = "1"};
  for (int i = 0; i < 6'000; ++i) trace.spans.push_back({.id = std::to_string(i), .start_us = 1, .duration_us = 1});
  const nlohmann::json reply = parse_json(trace_reply(trace));
  EXPECT_EQ(reply["spans"].size(), 5'000U);
  EXPECT_EQ(reply["leftOut"], 1'000);
  EXPECT_EQ(reply["incomplete"], true);
}

}  // namespace
}  // namespace edge::edgectl::web
