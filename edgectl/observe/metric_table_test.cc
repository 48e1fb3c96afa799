#include "edgectl/observe/metric_table.h"

#include <map>

#include <gtest/gtest.h>

namespace edge::edgectl {
namespace {

const MetricTable& table() {
  static const MetricTable kTable = {.keys = {"route"},
                                     .columns = {{"RATE", "rate", MetricColumn::Shows::kNumber, "rate(a[WINDOW])"},
                                                 {"P99", "p99", MetricColumn::Shows::kTime, "p(b[WINDOW])"}}};
  return kTable;
}

Result<std::vector<Series>> answer(const std::string& query) {
  if (query == "rate(a[5m])") return std::vector<Series>{{{{"route", "x"}}, {{0, 2}}}, {{{"route", "y"}}, {{0, 30}}}};
  if (query == "p(b[5m])") return std::vector<Series>{{{{"route", "y"}}, {{0, 0.25}}}, {{}, {{0, 1}}}};
  return Error{ErrorCode::kInvalidArgument, query};
}

TEST(MetricTable, JoinsTheAnswersByTheirKeys) {
  auto rows = metric_rows(table(), "5m", answer);
  ASSERT_TRUE(rows);
  EXPECT_EQ(metric_text(table(), *rows),
            "ROUTE    RATE   P99\n"
            "<none>   -      1s\n"
            "x        2      -\n"
            "y        30     250ms\n");
  keep_top(*rows, 0, 2);
  EXPECT_EQ(metric_json(table(), *rows),
            "[\n  {\n    \"route\": \"y\",\n    \"rate\": 30.0,\n    \"p99\": 0.25\n  },\n"
            "  {\n    \"route\": \"x\",\n    \"rate\": 2.0,\n    \"p99\": null\n  }\n]\n");
}

TEST(MetricTable, FailsAsItsQueryDoes) {
  const auto rows = metric_rows(table(), "1h", answer);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().text, "rate(a[1h])");
}

}  // namespace
}  // namespace edge::edgectl
