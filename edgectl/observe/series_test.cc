#include "edgectl/observe/series.h"

#include <cmath>

#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

TEST(ReadPrometheus, VectorsMatricesAndScalars) {
  const auto vector = read_prometheus(
      R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","a":"b"},"value":[10.5,"1"]}]}})");
  ASSERT_TRUE(vector);
  ASSERT_EQ(vector->size(), 1u);
  EXPECT_EQ((*vector)[0].label("a"), "b");
  EXPECT_EQ((*vector)[0].value(), 1);
  const auto matrix = read_prometheus(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1,"2"],[2,"NaN"],[3,"+Inf"]]}]}})");
  ASSERT_TRUE(matrix);
  ASSERT_EQ((*matrix)[0].points.size(), 3u);
  EXPECT_TRUE(std::isnan((*matrix)[0].points[1].value));
  EXPECT_TRUE(std::isinf((*matrix)[0].value()));
  const auto scalar = read_prometheus(R"({"status":"success","data":{"resultType":"scalar","result":[7,"42"]}})");
  ASSERT_TRUE(scalar);
  EXPECT_EQ((*scalar)[0].value(), 42);
}

TEST(ReadPrometheus, TellsWhyAQueryWasRefused) {
  const auto refused = read_prometheus(R"({"status":"error","errorType":"bad_data","error":"parse error"})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused.error().text, "bad_data: parse error");
}

TEST(ReadPrometheus, TakesNothingElse) {
  for (const char* text : {"", "no", "[]", "{}", R"({"status":"success"})", R"({"status":"success","data":[]})",
                           R"({"status":"success","data":{"result":{}}})"}) {
    const auto answer = read_prometheus(text);
    ASSERT_FALSE(answer) << text;
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable) << text;
  }
  // Points that are none are passed over.
  const auto odd = read_prometheus(
      R"({"status":"success","data":{"resultType":"vector","result":[7,{"value":"x"},{"value":[1,2]},{"metric":{"a":1}}]}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->size(), 4u);
  for (const Series& series : *odd) EXPECT_EQ(series.value(), 0);
}

TEST(ReadExposition, TakesWhatIsWanted) {
  const auto all = read_exposition(
      "# HELP edge_a Text.\n# TYPE edge_a counter\n"
      "edge_a{x=\"1\",y=\"say \\\"hi\\\"\\\\\\n}\"} 3\nedge_a 4 1700000000000\nedge_b 1\nedge_a{x=\"\nedge_a{} word\n"
      "edge_a{x=\"2\"} 1e3 # {id=\"7\"} 1",
      {"edge_a"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].label("y"), "say \"hi\"\\\n}");
  EXPECT_EQ(all[0].value(), 3);
  EXPECT_EQ(all[1].value(), 4);
  EXPECT_EQ(all[1].label("__name__"), "edge_a");
  EXPECT_EQ(all[2].value(), 1000);
}

TEST(Selector, TakesSeriesByNameAndLabels) {
  const auto selector = read_selector(" edge_requests_total { code = \"5xx\" , route!=\"a b\" } ");
  ASSERT_TRUE(selector);
  EXPECT_EQ(selector->name, "edge_requests_total");
  EXPECT_TRUE(selector->takes({{{"__name__", "edge_requests_total"}, {"code", "5xx"}}, {}}));
  EXPECT_FALSE(selector->takes({{{"__name__", "edge_requests_total"}, {"code", "5xx"}, {"route", "a b"}}, {}}));
  EXPECT_FALSE(selector->takes({{{"__name__", "edge_requests_begun_total"}, {"code", "5xx"}}, {}}));
  EXPECT_TRUE(read_selector("up{}"));
  EXPECT_TRUE(read_selector("up"));
}

TEST(Selector, RefusesWhatIsMore) {
  for (const char* text : {"", "{a=\"b\"}", "sum(up)", "up[5m]", "up{a=~\"b\"}", "up{a=\"b\" c=\"d\"}", "up{a=\"b",
                           "up{a=\"\\\"\"}", "up{a}", "up up", "up{"}) {
    EXPECT_FALSE(read_selector(text)) << text;
  }
}

}  // namespace
}  // namespace edge::edgectl
