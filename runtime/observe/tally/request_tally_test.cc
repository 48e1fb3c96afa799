#include "runtime/observe/tally/request_tally.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/observe/tally/request_sums.h"

namespace edge::runtime {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Stands in for the records of a program.
struct Records {
  std::vector<int> routes = std::vector<int>(1000);
  TallyKey tally_key(std::size_t route) const { return {routes.data(), &routes[route], nullptr}; }
  static TallyNames names(std::size_t route) { return {"default/gw", "default/r" + std::to_string(route), ""}; }
};

void count(RequestTally& tally, const Records& records, std::size_t route, FinishedRequest request = {200, {}, 0, 0}) {
  tally.count(records.tally_key(route), request, [&] { return Records::names(route); });
}

RequestSums sums_of(const RequestTally& tally) {
  RequestSums sums;
  sums.add(tally);
  return sums;
}

TEST(RequestTally, CountsByClassDurationAndSize) {
  RequestTally tally(10);
  const Records records;
  count(tally, records, 0, {200, std::chrono::milliseconds(1), 10, 300});
  count(tally, records, 0, {503, std::chrono::microseconds(1001), 0, 0});
  count(tally, records, 0, {0, std::chrono::seconds(11), 0, 0});
  const RequestSums sums = sums_of(tally);
  ASSERT_EQ(sums.rows.size(), 1U);
  const auto& [names, row] = *sums.rows.begin();
  EXPECT_EQ(names, Records::names(0));
  EXPECT_THAT(row.by_class, ElementsAre(1, 0, 1, 0, 0, 1));
  EXPECT_EQ(row.requests(), 3U);
  EXPECT_EQ(row.durations.front(), 1U);  // a bound belongs to its bucket
  EXPECT_EQ(row.durations[1], 1U);
  EXPECT_EQ(row.durations.back(), 1U);
  EXPECT_EQ(row.nanoseconds, 11'002'001'000U);
  EXPECT_EQ(row.request_bytes, 10U);
  EXPECT_EQ(row.response_bytes, 300U);
  const SizeSum& sizes = sums.sizes.at("default/gw");
  EXPECT_EQ(sizes.requests[0], 3U);
  EXPECT_EQ(sizes.responses[1], 1U);
}

TEST(RequestTally, PutsSizesIntoTheBucketOfTheirBound) {
  for (std::size_t i = 0; i < std::size(metrics::kSizeBounds); ++i) {
    const auto bound = static_cast<std::uint64_t>(metrics::kSizeBounds[i]);
    EXPECT_EQ(size_bucket(bound - 1), i);
    EXPECT_EQ(size_bucket(bound), i);
    EXPECT_EQ(size_bucket(bound + 1), i + 1);
  }
  EXPECT_EQ(size_bucket(0), 0U);
  EXPECT_EQ(size_bucket(~std::uint64_t{0}), kSizeBuckets - 1);
}

TEST(RequestTally, GoesOnUnderTheSameNameInTheNextProgram) {
  RequestTally tally(10);
  const Records before;
  const Records after;
  count(tally, before, 1);
  tally.forget_places();
  count(tally, after, 1);
  count(tally, after, 1);
  EXPECT_EQ(sums_of(tally).rows.at(Records::names(1)).requests(), 3U);
}

// What lay at an address in one program is another's route in the next.
TEST(RequestTally, AsksForTheNameOfAnAddressAnewInTheNextProgram) {
  RequestTally tally(10);
  const Records records;
  count(tally, records, 1);
  tally.forget_places();
  tally.count(records.tally_key(1), {200, {}, 0, 0}, [] { return Records::names(2); });
  const RequestSums sums = sums_of(tally);
  EXPECT_EQ(sums.rows.at(Records::names(1)).requests(), 1U);
  EXPECT_EQ(sums.rows.at(Records::names(2)).requests(), 1U);
}

TEST(RequestTally, FoldsWhatIsOverTheLimit) {
  RequestTally tally(2);
  const Records records;
  for (const std::size_t route : {0, 1, 2, 3, 2, 0}) count(tally, records, route);
  const RequestSums sums = sums_of(tally);
  EXPECT_EQ(sums.folded, 3U);
  ASSERT_EQ(sums.rows.size(), 3U);
  EXPECT_EQ(sums.rows.at(Records::names(0)).requests(), 2U);
  EXPECT_EQ((sums.rows.at({"", "other", ""}).requests()), 3U);
}

TEST(RequestTally, RemovesAndBeginsAnew) {
  RequestTally tally(3);
  const Records records;
  for (const std::size_t route : {0, 1, 2}) count(tally, records, route);
  const std::vector<TallyNames> gone = {Records::names(1), Records::names(7)};
  EXPECT_EQ(tally.remove(gone).size(), 1U);
  EXPECT_THAT(sums_of(tally).rows,
              ElementsAre(Pair(Records::names(0), testing::_), Pair(Records::names(2), testing::_)));
  count(tally, records, 1);
  EXPECT_EQ(sums_of(tally).rows.at(Records::names(1)).requests(), 1U);
}

TEST(RequestTally, FindsManyPlaces) {
  RequestTally tally(1000);
  const Records records;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t route = 0; route < records.routes.size(); ++route) count(tally, records, route);
  }
  const RequestSums sums = sums_of(tally);
  ASSERT_EQ(sums.rows.size(), 1000U);
  for (const auto& [names, row] : sums.rows) EXPECT_EQ(row.requests(), 2U);
}

// For the sanitizer of threads: a scrape reads while the thread counts, and meets new places.
TEST(RequestTally, IsReadWhileItCounts) {
  RequestTally tally(1000);
  const Records records;
  std::atomic<bool> done = false;
  std::thread counting([&] {
    for (std::size_t i = 0; i < 20'000; ++i) count(tally, records, i % records.routes.size());
    done = true;
  });
  std::uint64_t last = 0;
  while (!done) {
    std::uint64_t total = 0;
    for (const auto& [names, row] : sums_of(tally).rows) total += row.requests();
    EXPECT_GE(total, last);
    last = total;
  }
  counting.join();
}

}  // namespace
}  // namespace edge::runtime
