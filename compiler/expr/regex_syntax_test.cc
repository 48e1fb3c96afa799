#include "compiler/expr/regex_syntax.h"

#include <random>

#include <gmock/gmock.h>
#include <re2/re2.h>

#include "compiler/expr/regex_matcher.h"

namespace edge::compiler::expr {
namespace {

using ::testing::HasSubstr;

/// Canonical pattern, or the fault as `begin-end: message`.
std::string read(std::string_view pattern) {
  const ParsedRegex parsed = parse_regex(pattern);
  EXPECT_NE(parsed.regex.has_value(), parsed.fault.has_value());
  if (parsed.regex) {
    EXPECT_EQ(re2_refusal(parsed.regex->pattern), std::nullopt) << parsed.regex->pattern;
    return parsed.regex->pattern;
  }
  EXPECT_LE(parsed.fault->begin, parsed.fault->end);
  EXPECT_LE(parsed.fault->end, pattern.size());
  return std::to_string(parsed.fault->begin) + "-" + std::to_string(parsed.fault->end) + ": " + parsed.fault->message;
}

TEST(Regex, TheEndIsStrict) {
  EXPECT_EQ(read("^/a$"), "^/a\\z");
  const auto found = regex_matcher();
  EXPECT_TRUE(found(read("^/a$"), "/a"));
  EXPECT_FALSE(found(read("^/a$"), "/a\n"));
}

TEST(Regex, CanonicalFormLeavesNothingToReadDifferently) {
  EXPECT_EQ(read("(a|b)+?c"), "(?:a|b)+c");
  EXPECT_EQ(read("(?P<id>\\d{2,})"), "[0-9]{2,}");
  EXPECT_EQ(read("(?i)aB1"), "[Aa][Bb]1");
  EXPECT_EQ(read("(?i:a)b"), "[Aa]b");
  EXPECT_EQ(read("x(?i)y|z"), "x[Yy]|[Zz]");
  EXPECT_EQ(read("(?s).(?-s)."), "[\\x00-\\xff].");
  EXPECT_EQ(read("\\s"), "[\\x09\\x0a\\x0c\\x0d ]");
  EXPECT_EQ(read("[^/]+"), "[^/]+");
  EXPECT_EQ(read("[]a-c^-]"), "[\\-\\]\\^a-c]");
  EXPECT_EQ(read("[[:digit:][:^alpha:]x]"), read("[^a-wyzA-Z]"));
  EXPECT_EQ(read("\\Qa.b\\E"), "a\\.b");
  EXPECT_EQ(read("\xc3\xa9+"), "(?:\\xc3\\xa9)+");
  EXPECT_EQ(read("a{1}b{0}c{3}"), "ac{3}");
  EXPECT_EQ(read("a||b"), "a|(?:)|b");
  EXPECT_EQ(read("\\x2fa\\x{2F}"), "/a/");
}

TEST(Regex, WhatTheEnginesDoNotShareIsRefusedByName) {
  EXPECT_EQ(read("(?=a)"), "0-3: look-ahead (`(?=`) is not supported");
  EXPECT_EQ(read("a(?<!b)"), "1-5: look-behind (`(?<!`) is not supported");
  EXPECT_EQ(read("(a)\\1"), "3-5: back-references are not supported");
  EXPECT_THAT(read("(?m)^a"), HasSubstr("multi-line"));
  EXPECT_THAT(read("(?x)a"), HasSubstr("free-spacing"));
  EXPECT_THAT(read("(?>a)"), HasSubstr("atomic"));
  EXPECT_THAT(read("a++"), HasSubstr("possessive"));
  EXPECT_THAT(read("\\C"), HasSubstr("`\\C`"));
  EXPECT_THAT(read("\\R"), HasSubstr("`\\R`"));
  EXPECT_THAT(read("a\\Z"), HasSubstr("`\\Z`"));
  EXPECT_THAT(read("\\p{L}"), HasSubstr("Unicode"));
  EXPECT_THAT(read("(*UTF8)a"), HasSubstr("verbs"));
  EXPECT_THAT(read("[\xc3\xa9]"), HasSubstr("single bytes"));
  EXPECT_THAT(read("\\v"), HasSubstr("do not share"));
  EXPECT_THAT(read("\\Qab\\E*"), HasSubstr("a quotation cannot be repeated"));
}

TEST(Regex, SyntaxFaultsNameThePlace) {
  EXPECT_EQ(read("a(b"), "1-2: the group is not closed");
  EXPECT_EQ(read("a)b"), "1-2: `)` without its `(`");
  EXPECT_EQ(read("a[b"), "1-2: the class is not closed");
  EXPECT_EQ(read("*a"), "0-1: there is nothing before `*` to repeat");
  EXPECT_EQ(read("a**"), "0-3: a repeat of a repeat");
  EXPECT_EQ(read("a{x"), "1-2: `{` does not begin a repeat such as `{2,5}`");
  EXPECT_EQ(read("a{5,2}"), "1-6: the lower bound of the repeat is above the upper one");
  EXPECT_EQ(read("^*"), "0-2: an assertion cannot be repeated");
  EXPECT_EQ(read("a\\"), "1-2: a backslash at the end");
  EXPECT_EQ(read("\\y"), "0-2: unknown escape");
  EXPECT_EQ(read("[z-a]"), "1-4: the range ends before it begins");
  EXPECT_EQ(read(""), "0-0: the pattern is empty");
}

TEST(Regex, SizesAreBounded) {
  EXPECT_EQ(read("a{1000}"), "a{1000}");
  EXPECT_THAT(read("a{1001}"), HasSubstr("more than 1000 times"));
  EXPECT_THAT(read("(?:a{100}){11}"), HasSubstr("multiply"));
  EXPECT_THAT(read("(?:abcdefghijk){1000}"), HasSubstr("more than 10000 places"));
  EXPECT_THAT(read(std::string(kMaxRegexBytes + 1, 'a')), HasSubstr("at most 4096"));
  EXPECT_EQ(read(std::string(64, '(') + "a" + std::string(64, ')')), "a");
  EXPECT_THAT(read(std::string(65, '(') + "a" + std::string(65, ')')), HasSubstr("nested more than 64"));
  EXPECT_THAT(read(std::string(4'000, '(')), HasSubstr("nested more than 64"));
}

TEST(Regex, AnchorsAndCertainHits) {
  const auto regex = [](std::string_view pattern) { return *parse_regex(pattern).regex; };
  EXPECT_TRUE(regex("^/a").starts_at_begin);
  EXPECT_TRUE(regex("(?:^/a|^/b)c").starts_at_begin);
  EXPECT_FALSE(regex("^/a|/b").starts_at_begin);
  EXPECT_TRUE(regex(".*").always);
  EXPECT_TRUE(regex("^").always);
  EXPECT_TRUE(regex("^a*").always);
  EXPECT_FALSE(regex("^.*$").always);
  EXPECT_FALSE(regex("a").always);
}

/// The canonical form means what RE2 takes the pattern to mean.
TEST(Regex, CanonicalFormKeepsTheMeaning) {
  static constexpr const char* kPieces[] = {"a",   "b",     "/",      ".",      "[ab]", "[^a]", "\\d",
                                            "\\w", "(a|b)", "(?:ab)", "(?i:a)", "a*",   "b+?",  "(ab){1,2}",
                                            "/?",  "^",     "$",      "|",      "\\b",  "\\.",  "1"};
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  std::mt19937 random(11);
  int compared = 0;
  for (int round = 0; round < 2'000; ++round) {
    std::string pattern;
    for (std::size_t i = 1 + random() % 6; i > 0; --i) pattern += kPieces[random() % std::size(kPieces)];
    const RE2 original(pattern, options);
    const ParsedRegex parsed = parse_regex(pattern);
    if (!parsed.regex) continue;
    ASSERT_TRUE(original.ok()) << pattern;
    const RE2 canonical(parsed.regex->pattern, options);
    ASSERT_TRUE(canonical.ok()) << parsed.regex->pattern;
    EXPECT_EQ(read(parsed.regex->pattern), parsed.regex->pattern);
    for (int s = 0; s < 20; ++s, ++compared) {
      std::string subject;
      for (std::size_t i = random() % 6; i > 0; --i) subject += "abAB/1. \n"[random() % 9];
      const bool expected = RE2::PartialMatch(subject, original);
      ASSERT_EQ(RE2::PartialMatch(subject, canonical), expected) << pattern << " on " << subject;
      if (parsed.regex->always) EXPECT_TRUE(expected) << pattern;
    }
  }
  EXPECT_GT(compared, 20'000);
}

TEST(Regex, NoiseIsHarmless) {
  static constexpr char kBytes[] = "ab()[]{}|*+?.^$\\-:!=<>P1,0id\n\xc3\xa9\xff";
  std::mt19937 random(13);
  for (int round = 0; round < 20'000; ++round) {
    std::string pattern;
    for (std::size_t i = random() % 16; i > 0; --i) pattern += kBytes[random() % (sizeof(kBytes) - 1)];
    read(pattern);
  }
}

}  // namespace
}  // namespace edge::compiler::expr
