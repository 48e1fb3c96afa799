#include "program/evaluate/pattern.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace edge::program {
namespace {

std::vector<std::string_view> views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

bool one_by_one(const std::vector<std::string>& texts, std::string_view subject) {
  return std::ranges::any_of(texts, [&](const std::string& text) { return Pattern(text).found_in(subject); });
}

TEST(PatternSet, OfFewIsSearchedOneByOne) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 2 * PatternSet::kOnePassFrom; ++i) {
    const PatternSet set(views(texts));
    EXPECT_EQ(set.empty(), texts.empty());
    EXPECT_TRUE(set.ok());
    EXPECT_EQ(set.in_one_pass(), texts.size() >= PatternSet::kOnePassFrom) << texts.size();
    for (const std::string& text : texts) EXPECT_TRUE(set.finds_any("before " + text + " after")) << text;
    EXPECT_FALSE(set.finds_any("none of them"));
    texts.push_back("word" + std::to_string(i) + "x");
  }
}

// What a pattern does to itself stays with it: flags, anchors, a quotation that does not end, an alternative.
TEST(PatternSet, FindsWhatItsPatternsFind) {
  const std::vector<std::string> texts = {"(?i)abc",     "^start",   "end$",    R"(\Qa)",   "b|cc",
                                          R"(\bword\b)", "[^x]y{2}", "(?s)d.e", R"(\x00z)", "é"};
  const PatternSet set(views(texts));
  ASSERT_TRUE(set.in_one_pass());
  std::mt19937 random(1);
  constexpr std::string_view kBytes("aAbBcCdestarnwoy zx\n\0\xc3\xa9", 22);
  for (int i = 0; i < 5'000; ++i) {
    std::string subject;
    const std::size_t size = random() % 12;
    while (subject.size() < size) subject += kBytes[random() % kBytes.size()];
    EXPECT_EQ(set.finds_any(subject), one_by_one(texts, subject)) << subject;
  }
  for (const char* subject : {"xABCx", "start", "a start", "end", "end ", "a", "sword", "d\ne"}) {
    EXPECT_EQ(set.finds_any(subject), one_by_one(texts, subject)) << subject;
  }
}

TEST(PatternSet, WithOneThatCannotBeSearchedForIsNotUsable) {
  for (const char* wrong : {"(", "a{1000}{1000}", R"((.{900}){900})"}) {
    std::vector<std::string> texts(PatternSet::kOnePassFrom, "a");
    texts.push_back(wrong);
    EXPECT_FALSE(PatternSet(views(texts)).ok()) << wrong;
  }
}

// States of the pass would be as many as its memory has room for again and again, or none at all.
TEST(PatternSet, FindsAllTheSameWhereMemoryIsShort) {
  std::vector<std::string> texts;
  for (int i = 0; i < 64; ++i) {
    texts.push_back(std::string(1, static_cast<char>('a' + i % 20)) + ".{" + std::to_string(200 + i) + "}[y-z]{3}");
  }
  const PatternSet set(views(texts));
  ASSERT_TRUE(set.ok());
  std::mt19937 random(1);
  std::string subject;
  while (subject.size() < 4'096) subject += static_cast<char>('a' + random() % 22);
  EXPECT_FALSE(set.finds_any(subject));
  EXPECT_TRUE(set.finds_any(subject + "zyz"));
}

}  // namespace
}  // namespace edge::program
