#include "metrics/exposition.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/histogram.h"
#include "metrics/process.h"

namespace edge::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Exposition, WritesTheTextFormat) {
  Exposition out(Format::kText);
  out.begin(Family::kRequests);
  out.sample(std::uint64_t{3}, labels({{"gateway", "default/gw"}, {"code", "2xx"}}));
  out.begin(Family::kProgramInfo);
  out.sample(std::uint64_t{1}, labels({{"hash", "ab"}}));
  EXPECT_EQ(out.series(), 2U);
  const std::string text = out.finish();
  EXPECT_THAT(text, HasSubstr("# TYPE edge_requests_total counter\nedge_requests_total{gateway=\"default/gw\","
                              "code=\"2xx\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE edge_program_info gauge\nedge_program_info{hash=\"ab\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("# UNIT")));
  EXPECT_THAT(text, Not(HasSubstr("# EOF")));
}

// OpenMetrics 1.0: a counter's family is named without `_total`, an info's without `_info`; units are told, and the
// end.
TEST(Exposition, WritesOpenMetrics) {
  Exposition out(Format::kOpenMetrics);
  out.begin(Family::kRequestBytes);
  out.sample(std::uint64_t{3});
  out.begin(Family::kProgramInfo);
  out.sample(std::uint64_t{1}, labels({{"hash", "ab"}}));
  const std::string text = out.finish();
  EXPECT_THAT(text, HasSubstr("# TYPE edge_request_bytes counter\n# UNIT edge_request_bytes bytes\n"
                              "edge_request_bytes_total 3\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE edge_program info\nedge_program_info{hash=\"ab\"} 1\n"));
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST(Exposition, EscapesValuesOfLabels) {
  EXPECT_EQ(labels({{"a", "x\"y\\z\nw"}, {"b", ""}}), "a=\"x\\\"y\\\\z\\nw\",b=\"\"");
}

TEST(Exposition, WritesNumbersThatReadBackTheSame) {
  Exposition out(Format::kText);
  out.begin(Family::kProcessStart);
  out.sample(0.1);
  out.sample(3.0);
  out.sample(1e21);
  out.sample(std::uint64_t{18446744073709551615U});
  EXPECT_THAT(out.finish(), HasSubstr("seconds 0.1\nprocess_start_time_seconds 3.0\nprocess_start_time_seconds 1e+21\n"
                                      "process_start_time_seconds 18446744073709551615\n"));
}

TEST(Exposition, SumsBucketsUp) {
  const double bounds[] = {0.5, 1, 2, 4};
  const std::uint64_t counts[] = {1, 2, 3, 4, 5};
  Exposition out(Format::kText);
  out.begin(Family::kRequestDuration);
  out.histogram({bounds, counts, 12.5}, "a=\"b\"");
  EXPECT_EQ(out.series(), 7U);
  EXPECT_THAT(out.finish(), HasSubstr("_bucket{a=\"b\",le=\"0.5\"} 1\n"
                                      "edge_request_duration_seconds_bucket{a=\"b\",le=\"1.0\"} 3\n"
                                      "edge_request_duration_seconds_bucket{a=\"b\",le=\"2.0\"} 6\n"
                                      "edge_request_duration_seconds_bucket{a=\"b\",le=\"4.0\"} 10\n"
                                      "edge_request_duration_seconds_bucket{a=\"b\",le=\"+Inf\"} 15\n"
                                      "edge_request_duration_seconds_sum{a=\"b\"} 12.5\n"
                                      "edge_request_duration_seconds_count{a=\"b\"} 15\n"));
}

// What is left out is in the next bucket that is told: fewer of them are still true.
TEST(Exposition, TellsFewerBuckets) {
  const double bounds[] = {0.5, 1, 2, 4};
  const std::uint64_t counts[] = {1, 2, 3, 4, 5};
  Exposition half(Format::kText);
  half.begin(Family::kRequestDuration);
  half.histogram({bounds, counts, 0}, {}, 2);
  EXPECT_THAT(half.finish(), HasSubstr("_bucket{le=\"1.0\"} 3\nedge_request_duration_seconds_bucket{le=\"4.0\"} 10\n"));
  Exposition none(Format::kText);
  none.begin(Family::kRequestDuration);
  none.histogram({bounds, counts, 0}, {}, 0);
  EXPECT_EQ(none.series(), 3U);
  EXPECT_THAT(none.finish(), HasSubstr("histogram\nedge_request_duration_seconds_bucket{le=\"+Inf\"} 15\n"));
}

TEST(Exposition, AnswersInTheFormatThatIsAskedFor) {
  EXPECT_EQ(format_for(""), Format::kText);
  EXPECT_EQ(format_for("*/*"), Format::kText);
  EXPECT_EQ(format_for("text/plain;version=0.0.4"), Format::kText);
  // What Prometheus 2.42 sends.
  EXPECT_EQ(format_for("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                       "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            Format::kOpenMetrics);
  EXPECT_EQ(format_for("text/plain, Application/OpenMetrics-Text; q=0.5"), Format::kText);
  EXPECT_EQ(format_for("application/openmetrics-text;q=0"), Format::kText);
  EXPECT_EQ(format_for("application/openmetrics-text;q=nonsense"), Format::kOpenMetrics);
  EXPECT_EQ(format_for(",;,=;q="), Format::kText);
}

TEST(Families, FollowTheConventions) {
  std::set<std::string_view> names;
  for (const FamilyEntry& entry : families()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second);
    EXPECT_TRUE(entry.name.starts_with("edge_") || entry.name.starts_with("process_"));
    EXPECT_EQ(entry.name.ends_with("_total"), entry.kind == Kind::kCounter);
    EXPECT_EQ(entry.name.ends_with("_info"), entry.kind == Kind::kInfo);
    EXPECT_FALSE(entry.help.empty());
    EXPECT_FALSE(entry.section.empty());
  }
}

// `EDGE_UPDATE_METRICS=1 metrics_test` writes the tables.
TEST(Families, AreThoseOfTheirPage) {
  const char* const path = "docs/metrics.md";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::string page = text.str();
  const std::string intro = page.substr(0, std::min(page.find("\n### "), page.size()));
  if (std::getenv("EDGE_UPDATE_METRICS") != nullptr) {
    page = intro + families_page();
    std::ofstream(path) << page;
  }
  EXPECT_EQ(page, intro + families_page());
}

TEST(Process, TellsOfItself) {
  Exposition out(Format::kText);
  write_process(out);
  const std::string text = out.finish();
  for (const char* name : {"cpu_seconds_total", "resident_memory_bytes", "virtual_memory_bytes", "open_fds", "max_fds",
                           "start_time_seconds"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\nprocess_") + name + " "));
  }
}

}  // namespace
}  // namespace edge::metrics
