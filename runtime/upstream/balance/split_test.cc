#include "runtime/upstream/balance/split.h"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

/// A split with these weights; `storage` holds its backends.
program::Split split_of(const std::vector<std::uint32_t>& weights, std::vector<program::BackendRefRecord>& storage) {
  program::Split split{};
  storage.clear();
  split.total_weight = 0;
  split.canary = weights.empty() ? program::kNone : 0;
  for (std::uint32_t i = 0; i < weights.size(); ++i) {
    storage.push_back(program::BackendRefRecord::of(i + 1, weights[i]));
    split.total_weight += weights[i];
    if (weights[i] < weights[split.canary]) split.canary = i;
  }
  split.backends = storage;
  return split;
}

TEST(Split, FollowsTheWeightsOverAnyRun) {
  std::vector<program::BackendRefRecord> storage;
  for (const auto& weights : {std::vector<std::uint32_t>{1, 1}, {9, 1}, {80, 15, 5}, {1, 0, 3}, {1000, 1}}) {
    const program::Split split = split_of(weights, storage);
    for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
      SplitSequence sequence(start);
      std::array<int, 3> taken{};
      for (int n = 1; n <= 2000; ++n) {
        const std::uint32_t chosen = choose_backend(split, false, sequence);
        ASSERT_LT(chosen, weights.size());
        ++taken[chosen];
        for (std::size_t i = 0; i < weights.size(); ++i) {
          const double due = static_cast<double>(n) * weights[i] / split.total_weight;
          ASSERT_LT(std::abs(taken[i] - due), 6) << "after " << n << " requests";
          if (weights[i] == 0) ASSERT_EQ(taken[i], 0);
        }
      }
    }
  }
}

TEST(Split, ACanaryGoesToTheLowestWeight) {
  std::vector<program::BackendRefRecord> storage;
  SplitSequence sequence(7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(choose_backend(split_of({5, 1, 1}, storage), true, sequence), 1u) << "the first of equals";
    EXPECT_EQ(choose_backend(split_of({5, 0}, storage), true, sequence), 1u) << "zero included";
  }
}

TEST(Split, NoWeightAtAllTakesNothing) {
  std::vector<program::BackendRefRecord> storage;
  SplitSequence sequence(7);
  EXPECT_EQ(choose_backend(split_of({0, 0}, storage), false, sequence), program::kNone);
  EXPECT_EQ(choose_backend(split_of({}, storage), false, sequence), program::kNone);
  EXPECT_EQ(choose_backend(split_of({}, storage), true, sequence), program::kNone);
}

}  // namespace
}  // namespace edge::runtime
