// Which keys meet in the table of what cannot be stored: nobody outside of the process knows.
#include "runtime/shape/cache/fills.h"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace edge::runtime::cache {
namespace {

constexpr Seconds kFirstSecond = 1;
constexpr int kKeys = 40'000;

/// The keys that nobody waits for because one of another name could not be stored.
std::set<std::string> meeting(Fills& fills) {
  fills.join("popular", "/popular", kFirstSecond, Fills::For::kEnd, {}).fill->pass(kFirstSecond);
  std::set<std::string> met;
  for (int i = 0; i < kKeys; ++i) {
    const std::string id = "key " + std::to_string(i);
    const auto leader = fills.join(id, "/", kFirstSecond, Fills::For::kEnd, {});
    if (fills.join(id, "/", kFirstSecond, Fills::For::kEnd, [] {}).role == Fills::Role::kGoesOn) met.insert(id);
    leader.fill->end();
  }
  return met;
}

TEST(Fills, KeysThatMeetInOneProcessDoNotInAnother_Decision88) {
  const auto one = std::make_unique<Fills>();
  const auto another = std::make_unique<Fills>();
  const std::set<std::string> met = meeting(*one);
  EXPECT_FALSE(met.empty());
  EXPECT_NE(met, meeting(*another));
  EXPECT_EQ(one->size(), 0U);
}

}  // namespace
}  // namespace edge::runtime::cache
