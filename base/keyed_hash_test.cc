#include "base/keyed_hash.h"

#include <string>
#include <unordered_map>

#include <gtest/gtest.h>

namespace edge {
namespace {

// Of the paper's appendix, and of the authors' list: the key is 00 01 .. 0f, the text 00 01 .. of each length.
TEST(KeyedHash, IsSipHash) {
  const HashKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  EXPECT_EQ((sip_hash<2, 4>(key, text)), 0x726fdb47dd0e0e31U);
  for (char c = 0; c < 8; ++c) text += c;
  EXPECT_EQ((sip_hash<2, 4>(key, text)), 0x93f5f5799a932462U);
  for (char c = 8; c < 15; ++c) text += c;
  EXPECT_EQ((sip_hash<2, 4>(key, text)), 0xa129ca6149be45e5U);
}

TEST(KeyedHash, DependsOnItsKey) {
  EXPECT_NE(sip_hash({1, 2}, "shop"), sip_hash({1, 3}, "shop"));
  EXPECT_NE(HashKey::random().low, HashKey::random().low);
}

TEST(KeyedHash, FindsWhatATableHolds) {
  std::unordered_map<std::string, int, KeyedHash, std::equal_to<>> table;
  for (int i = 0; i < 1000; ++i) table[std::to_string(i)] = i;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(table.find(std::to_string(i))->second, i);
  EXPECT_EQ(table.find("x"), table.end());
}

}  // namespace
}  // namespace edge
