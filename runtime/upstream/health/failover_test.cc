#include "runtime/upstream/health/failover.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

struct FailoverCase {
  std::string claim;
  std::vector<FailoverGroup> groups;
  FailoverSettings settings{};
  std::vector<double> shares;
};

const FailoverGroup kLevelTwo{.level = 2, .all = 2, .usable = 2};

const FailoverCase kCases[] = {
    {"the own endpoints take all while they are whole", {{.all = 10, .usable = 10}, kLevelTwo}, {}, {1, 0}},
    {"and down to the threshold", {{.all = 10, .usable = 7}, kLevelTwo}, {}, {1, 0}},
    {"below it what they cannot carry goes on", {{.all = 10, .usable = 6}, kLevelTwo}, {}, {6.0 / 7, 1.0 / 7}},
    {"half of the threshold is half of the requests", {{.all = 20, .usable = 7}, kLevelTwo}, {}, {0.5, 0.5}},
    {"none: all goes on", {{.all = 10, .usable = 0}, kLevelTwo}, {}, {0, 1}},
    {"no own endpoints at all", {{}, kLevelTwo}, {}, {0, 1}},
    {"a threshold of 100 moves the share of each that is lost",
     {{.all = 10, .usable = 9}, kLevelTwo},
     {.healthy_percent = 100},
     {0.9, 0.1}},
    {"a threshold of 1 keeps all to the last", {{.all = 100, .usable = 1}, kLevelTwo}, {.healthy_percent = 1}, {1, 0}},
    {"the next level takes what the second cannot",
     {{.all = 10, .usable = 0},
      {.level = 2, .all = 2, .usable = 2, .healthy_percent = 35},
      {.level = 3, .all = 1, .usable = 1}},
     {},
     {0, 0.5, 0.5}},
    {"levels are filled in their order, whatever that of the groups",
     {{.all = 10, .usable = 0}, {.level = 9, .all = 1, .usable = 1}, {.level = 4, .all = 1, .usable = 1}},
     {},
     {0, 0, 1}},
    {"clusters of one level share by weight",
     {{.all = 1, .usable = 0}, {.level = 2, .weight = 3, .all = 1, .usable = 1}, {.level = 2, .all = 5, .usable = 5}},
     {},
     {0, 0.75, 0.25}},
    {"and by what of them is healthy",
     {{.all = 1, .usable = 0}, {.level = 2, .all = 1, .usable = 1}, {.level = 2, .all = 1, .usable = 0}},
     {},
     {0, 1, 0}},
    {"nobody is healthy enough: all share in proportion",
     {{.all = 10, .usable = 1}, {.level = 2, .all = 10, .usable = 1}},
     {},
     {0.5, 0.5}},
    {"no panic: what is known to be bad gets nothing",
     {{.all = 10, .usable = 0}, {.level = 2, .all = 2, .usable = 0}},
     {},
     {0, 0}},
    {"a cluster whose service is not healthy is none",
     {{.all = 1, .usable = 0}, {.level = 2, .all = 2, .usable = 2, .healthy_percent = 0}},
     {},
     {0, 0}},
    {"load moves what is above it", {{.all = 2, .usable = 2}, kLevelTwo}, {.most_of_own = 0.25}, {0.25, 0.75}},
    {"but not to nobody",
     {{.all = 2, .usable = 2}, {.level = 2, .all = 2, .usable = 0}},
     {.most_of_own = 0.25},
     {1, 0}},
    {"nor beyond what the others can",
     {{.all = 2, .usable = 2}, {.level = 2, .all = 100, .usable = 7}},
     {.most_of_own = 0.5},
     {0.9, 0.1}},
    {"alone", {{.all = 3, .usable = 1}}, {}, {1}},
    {"nothing", {}, {}, {}},
};

TEST(Failover, SharesAreThoseOfTheTable) {
  for (const FailoverCase& one : kCases) {
    const std::vector<double> shares = failover_shares(one.groups, one.settings);
    ASSERT_EQ(shares.size(), one.shares.size()) << one.claim;
    for (std::size_t i = 0; i < shares.size(); ++i)
      EXPECT_NEAR(shares[i], one.shares[i], 1e-9) << one.claim << " " << i;
  }
}

TEST(Failover, AnEndpointCarriesAtMostItsBoundOfTheUsualLoad) {
  for (std::uint64_t usable = 1; usable <= 100; ++usable) {
    const FailoverGroup groups[] = {{.all = 100, .usable = usable}, {.level = 2, .all = 1, .usable = 1}};
    const std::vector<double> shares = failover_shares(groups, {});
    EXPECT_NEAR(shares[0] + shares[1], 1, 1e-9);
    EXPECT_LE(shares[0] / static_cast<double>(usable), 1.0 / 70 + 1e-9) << usable;
  }
}

TEST(Failover, LoadIsSharedInStepsThatFollowDemand) {
  EXPECT_EQ(most_of_own(10, 1, 2, 0), 1) << "no bound";
  EXPECT_EQ(most_of_own(0, 1, 2, 5), 1);
  EXPECT_EQ(most_of_own(10, 1, 2, 5), 1) << "at the bound";
  EXPECT_DOUBLE_EQ(most_of_own(20, 1, 2, 5), 0.5);
  // With half of the requests the same demand shows half as many under way.
  EXPECT_DOUBLE_EQ(most_of_own(10, 0.5, 2, 5), 0.5);
  EXPECT_DOUBLE_EQ(most_of_own(5, 0.5, 2, 5), 1) << "demand is less: all come back";
  EXPECT_DOUBLE_EQ(most_of_own(1'000'000, 1, 1, 1), 0.05) << "some stay, to measure by";
}

}  // namespace
}  // namespace edge::runtime
