#include "controller/operator/rollout/canary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::cluster_operator {
namespace {

using Compared = Comparison::Result;
using testing::HasSubstr;

/// Of `requests`, so many failed and refused; durations: so many within 10 ms, the rest within 1 s.
Traffic traffic(std::uint64_t requests, std::uint64_t failed = 0, std::uint64_t refused = 0, std::uint64_t slow = 0) {
  return {.requests = requests,
          .failed = failed,
          .refused = refused,
          .durations = {requests - slow, 0, slow, 0},
          .bounds = {0.01, 0.1, 1.0}};
}

TEST(Canary, IsSoundWhereItIsAsTheOthers) {
  EXPECT_EQ(compare(traffic(1000, 3), traffic(5000, 10), {}).result, Compared::kSound);
  EXPECT_EQ(compare(traffic(1000, 0, 500), traffic(5000, 0, 2500), {}).result, Compared::kSound);
}

TEST(Canary, IsNotComparedByFewRequests) {
  EXPECT_EQ(compare(traffic(99, 99), traffic(5000), {}).result, Compared::kTooFew);
  EXPECT_EQ(compare(traffic(5000, 5000), traffic(99), traffic(99)).result, Compared::kTooFew);
  EXPECT_EQ(compare(traffic(100, 100), traffic(100), {}).result, Compared::kWorse);
}

TEST(Canary, IsWorseByErrors) {
  const Comparison failed = compare(traffic(100, 5), traffic(5000), {});
  EXPECT_EQ(failed.result, Compared::kWorse);
  EXPECT_THAT(failed.text, HasSubstr("5.0% of 100 requests of the first agent were failed"));
  EXPECT_THAT(failed.text, HasSubstr("0.0% of 5000 on the other agents"));
  // One of a hundred is chance.
  EXPECT_EQ(compare(traffic(100, 1), traffic(5000), {}).result, Compared::kSound);
  EXPECT_EQ(compare(traffic(1000, 0, 100), traffic(5000), {}).result, Compared::kWorse);
}

TEST(Canary, IsWorseByLatency) {
  EXPECT_EQ(compare(traffic(200, 0, 0, 60), traffic(5000), {}).result, Compared::kWorse);
  EXPECT_EQ(compare(traffic(200, 0, 0, 8), traffic(5000), {}).result, Compared::kSound);
  // As slow as the others are.
  EXPECT_EQ(compare(traffic(200, 0, 0, 60), traffic(5000, 0, 0, 1500), {}).result, Compared::kSound);
}

/// A backend that fails everywhere is no fault of the canary, and neither is a node that always was slower.
TEST(Canary, MustBeWorseThanEachReference) {
  EXPECT_EQ(compare(traffic(1000, 500), traffic(5000, 2500), traffic(5000)).result, Compared::kSound);
  EXPECT_EQ(compare(traffic(1000, 0, 0, 600), traffic(5000), traffic(5000, 0, 0, 3000)).result, Compared::kSound);
  EXPECT_EQ(compare(traffic(1000, 500), traffic(5000), traffic(5000)).result, Compared::kWorse);
  // Too few of the one: the other alone counts.
  EXPECT_EQ(compare(traffic(1000, 500), traffic(10, 10), traffic(5000)).result, Compared::kWorse);
}

TEST(Canary, ReadsThePageOfAnAgent) {
  const auto read = read_traffic(
      R"({"covered":12.1,"bounds":[0.01,0.1],"total":{"requests":[2,0,118,0,4,1],"durations":[117,2,6]},"rows":[]})");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->requests, 125u);
  EXPECT_EQ(read->failed, 3u);
  EXPECT_EQ(read->refused, 4u);
  EXPECT_EQ(read->durations, (std::vector<std::uint64_t>{117, 2, 6}));
  EXPECT_EQ(read_traffic(write_traffic(*read)), read);
}

TEST(Canary, TakesNothingElseForAPage) {
  for (const char* text : {"", "[]", "{}", R"({"total":{"requests":[1],"durations":[1]},"bounds":[]})",
                           R"({"total":{"requests":[0,0,-1,0,0,0],"durations":[1]},"bounds":[]})",
                           R"({"total":{"requests":[0,0,1,0,0,0],"durations":[1,1]},"bounds":[]})",
                           R"({"total":{"requests":[0,0,1,0,0,0],"durations":[1,1,1]},"bounds":[2,1]})",
                           R"({"total":{"requests":[0,0,1,0,0,0],"durations":[1,1]},"bounds":["a"]})"}) {
    EXPECT_FALSE(read_traffic(text).has_value()) << text;
  }
  // Sums of many agents stay within a number.
  const auto large = read_traffic(
      R"({"total":{"requests":[0,0,18446744073709551615,0,0,0],"durations":[18446744073709551615]},"bounds":[]})");
  ASSERT_TRUE(large.has_value());
  EXPECT_EQ(large->requests, std::uint64_t{1} << 48);
}

TEST(Canary, AddsAgents) {
  Traffic sum;
  add(sum, traffic(10, 1, 2, 3));
  add(sum, traffic(5, 1, 0, 1));
  EXPECT_EQ(sum, traffic(15, 2, 2, 4));
  Traffic other = traffic(5);
  other.bounds = {0.02, 0.2, 2.0};
  add(sum, other);
  EXPECT_EQ(sum.requests, 20u);
  EXPECT_EQ(sum.durations, traffic(15, 2, 2, 4).durations);
}

}  // namespace
}  // namespace edge::cluster_operator
