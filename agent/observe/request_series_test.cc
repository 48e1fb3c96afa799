#include "agent/observe/request_series.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::agent {
namespace {

using metrics::Exposition;
using metrics::Format;
using runtime::RequestSum;
using runtime::RequestSums;
using runtime::TallyNames;
using testing::HasSubstr;
using testing::Not;

TallyNames names(int route) {
  const std::string number = std::to_string(route);
  return {"default/gw", "default/r" + number, "default/b" + number};
}

RequestSum sum_of(std::uint64_t requests, std::uint64_t errors = 0) {
  RequestSum sum;
  sum.by_class[2] = requests;
  sum.by_class[5] = errors;
  sum.durations[1] = requests + errors;
  sum.nanoseconds = (requests + errors) * 2'000'000;
  sum.request_bytes = 10;
  sum.response_bytes = 20;
  return sum;
}

RequestSums sums_of(int routes, std::uint64_t errors = 0) {
  RequestSums sums;
  for (int route = 0; route < routes; ++route) sums.rows[names(route)] = sum_of(3, errors);
  sums.sizes["default/gw"].requests[0] = 3;
  return sums;
}

struct Scrape {
  std::string text;
  std::size_t series;
};

Scrape scrape(RequestSeries& series, const RequestSums& sums, std::size_t room) {
  Exposition out(Format::kText);
  series.write(out, sums, room);
  const std::size_t count = out.series();
  return {out.finish(), count};
}

TEST(RequestSeries, TellsOfRouteBackendAndClass) {
  RequestSeries series;
  const std::string text = scrape(series, sums_of(1, 2), 1000).text;
  EXPECT_EQ(series.detail(), 5U);
  EXPECT_THAT(text, HasSubstr("edge_requests_total{gateway=\"default/gw\",route=\"default/r0\",backend=\"default/b0\","
                              "code=\"2xx\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("code=\"5xx\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("code=\"4xx\"")));
  EXPECT_THAT(text, HasSubstr("edge_request_duration_seconds_bucket{gateway=\"default/gw\",route=\"default/r0\","
                              "le=\"0.0025\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("edge_request_duration_seconds_sum{gateway=\"default/gw\",route=\"default/r0\"} 0.01\n"));
  EXPECT_THAT(text, HasSubstr("edge_backend_request_duration_seconds_count{backend=\"default/b0\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("edge_response_bytes_total{gateway=\"default/gw\",route=\"default/r0\"} 20\n"));
  EXPECT_THAT(text, HasSubstr("edge_request_size_bytes_count{gateway=\"default/gw\"} 3\n"));
}

TEST(RequestSeries, IsThereBeforeTheFirstRequest) {
  RequestSeries series;
  EXPECT_THAT(scrape(series, {}, 1000).text,
              HasSubstr("edge_requests_total{gateway=\"\",route=\"other\",backend=\"\",code=\"2xx\"} 0\n"));
  EXPECT_EQ(series.folded(), 0U);
}

TEST(RequestSeries, AddsTheBackendsOfARouteUp) {
  RequestSums sums;
  sums.rows[{"g/g", "r/r", "b/1"}] = sum_of(1);
  sums.rows[{"g/g", "r/r", "b/2"}] = sum_of(2);
  RequestSeries series;
  const std::string text = scrape(series, sums, 1000).text;
  EXPECT_THAT(text, HasSubstr("edge_request_duration_seconds_count{gateway=\"g/g\",route=\"r/r\"} 3\n"));
}

// The bar: 5,000 routes, each with a backend of its own and errors, in the room that a default agent leaves them.
TEST(RequestSeries, FiveThousandRoutesStayUnderTheLimit) {
  RequestSeries series;
  const Scrape all = scrape(series, sums_of(5000, 1), 40'000);
  EXPECT_LE(all.series, 40'000U);
  EXPECT_EQ(series.detail(), 2U);
  EXPECT_EQ(series.folded(), 0U);
  EXPECT_THAT(all.text, HasSubstr("edge_request_duration_seconds_bucket{gateway=\"default/gw\",route=\"default/r4999\","
                                  "le=\"0.1\"} 4\n"));
}

TEST(RequestSeries, GivesUpDetailStepByStep) {
  std::size_t before = 6;
  for (const std::size_t room : {5000, 2300, 1100, 800, 550, 250}) {
    RequestSeries series;
    EXPECT_LE(scrape(series, sums_of(100, 1), room).series, room);
    EXPECT_EQ(series.detail(), --before) << room;
    EXPECT_EQ(series.folded(), 0U);
  }
}

TEST(RequestSeries, TakesDetailBackOnlyWithRoomToSpare) {
  RequestSeries series;
  scrape(series, sums_of(100, 1), 1000);
  EXPECT_EQ(series.detail(), 3U);
  scrape(series, sums_of(60, 1), 1000);
  EXPECT_EQ(series.detail(), 3U);
  scrape(series, sums_of(10, 1), 1000);
  EXPECT_EQ(series.detail(), 5U);
}

TEST(RequestSeries, FoldsWhatFindsNoRoom) {
  RequestSeries series;
  const Scrape folded = scrape(series, sums_of(100), 50);
  EXPECT_LE(folded.series, 50U);
  EXPECT_EQ(series.folded(), 3U * (100 - 44));
  EXPECT_THAT(folded.text,
              HasSubstr("edge_requests_total{gateway=\"\",route=\"other\",backend=\"\",code=\"2xx\"} 168\n"));
}

// No counter goes down: who was told apart stays so while there is room, who was folded stays folded, who is gone stays
// counted.
TEST(RequestSeries, NeverTakesFromOther) {
  RequestSeries series;
  scrape(series, sums_of(100), 50);
  const std::uint64_t before = series.folded();
  const RequestSums all = sums_of(100);
  const std::vector<TallyNames> gone = {names(0), names(99)};
  series.forget(gone, all);
  RequestSums rest = all;
  for (const TallyNames& name : gone) rest.rows.erase(name);
  scrape(series, rest, 1000);
  EXPECT_GE(series.folded(), before);
}

TEST(RequestSeries, AddsWhatThreadsFolded) {
  RequestSums sums = sums_of(1);
  sums.rows[{"", "other", ""}] = sum_of(7);
  RequestSeries series;
  EXPECT_THAT(scrape(series, sums, 1000).text, HasSubstr("route=\"other\",backend=\"\",code=\"2xx\"} 7\n"));
  EXPECT_EQ(series.folded(), 7U);
}

}  // namespace
}  // namespace edge::agent
