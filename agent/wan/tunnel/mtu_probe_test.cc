#include "agent/wan/tunnel/mtu_probe.h"

#include <gtest/gtest.h>

namespace edge::agent::wan {
namespace {

/// What is found where packets up to `limit` pass, and how many sizes were tried.
std::pair<std::optional<std::uint32_t>, int> search(std::uint32_t most, std::uint32_t limit) {
  MtuSearch one(most);
  int sizes = 0;
  while (const auto size = one.next()) {
    ++sizes;
    *size <= limit ? one.passed() : one.lost();
  }
  return {one.found(), sizes};
}

TEST(MtuSearch, TakesTheLargestWhenItPasses) { EXPECT_EQ(search(1420, 1500), std::pair(std::optional(1420U), 1)); }

TEST(MtuSearch, ComesCloseFromBelowToEveryLimit) {
  for (std::uint32_t limit = 576; limit < 1420; ++limit) {
    const auto [found, sizes] = search(1420, limit);
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(*found, limit);
    EXPECT_GE(*found + 8, limit);
    EXPECT_LE(sizes, 10);
  }
}

TEST(MtuSearch, KnowsNothingOfWhoAnswersNothing) {
  EXPECT_EQ(search(1420, 0), std::pair(std::optional<std::uint32_t>(), 2));
  EXPECT_EQ(search(500, 0), std::pair(std::optional<std::uint32_t>(), 1));
}

}  // namespace
}  // namespace edge::agent::wan
