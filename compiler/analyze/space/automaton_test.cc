#include "compiler/analyze/space/automaton.h"

#include <random>

#include <gtest/gtest.h>

#include "compiler/analyze/space/text_search.h"
#include "compiler/analyze/space/witness.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::analyze {
namespace {

constexpr std::uint64_t kPlenty = 50'000'000;

std::string random_text(std::mt19937& random, std::string_view alphabet, std::size_t longest) {
  std::string text;
  for (std::size_t size = random() % (longest + 1); size > 0; --size) text += alphabet[random() % alphabet.size()];
  return text;
}

TEST(RegexAutomaton, AgreesWithRe2) {
  const char* const patterns[] = {
      "^/a",      "b$",     "^/[ab]+$",  "a.*b",        "^$",   "^a|b$",    "a{2,3}b",   "(a|ab)(c|bcd)",
      "\\bab\\b", "\\Bb",   "^(?:a|^b)", "a$|^b",       "x*",   "(?:a*)*b", "[^/]{4,6}", "\\ba",
      "a\\b/",    "(?i)aB", "^/a/b/?$",  "(^|/)a(/|$)", "a\\B", "[^ab]",    "a{0,2}$"};
  const auto matches = expr::regex_matcher();
  std::mt19937 random(7);
  for (const char* const pattern : patterns) {
    const auto automaton = matching(pattern);
    ASSERT_NE(automaton, nullptr) << pattern;
    // RE2 reads the canonical form, in which `$` is the very end.
    const auto parsed = expr::parse_regex(pattern);
    for (int i = 0; i < 400; ++i) {
      const std::string text = random_text(random, "ab/c_ A", 8);
      Effort effort(kPlenty);
      EXPECT_EQ(automaton->accepts_text(text, effort), matches(parsed.regex->pattern, text))
          << pattern << " on `" << text << "`";
    }
  }
}

TEST(RegexAutomaton, RefusesWhatTheLanguageRefuses) { EXPECT_EQ(matching("a(b"), nullptr); }

TEST(PathAutomaton, TakesWhatNormalisingLeavesAsItIs) {
  const auto paths = possible_paths();
  std::mt19937 random(11);
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = "/" + random_text(random, "/.%2Ff0a~?# \x7f\x80", 7);
    Effort effort(kPlenty);
    EXPECT_EQ(paths->accepts_text(text, effort), is_normal_path(text)) << text;
  }
  Effort effort(kPlenty);
  EXPECT_TRUE(paths->accepts_text("*", effort));
  EXPECT_FALSE(paths->accepts_text("*a", effort));
  EXPECT_FALSE(paths->accepts_text("", effort));
  EXPECT_FALSE(paths->accepts_text("a", effort));
}

/// Whether `text` is made of values without blanks around them, joined by ", ".
bool is_joined(const std::string& text) {
  const auto plain = [](const std::string& value) {
    return value.empty() || (value.find_first_of(" \t") != 0 && value.find_last_of(" \t") != value.size() - 1);
  };
  if (plain(text)) return true;
  for (std::size_t at = text.find(", "); at != std::string::npos; at = text.find(", ", at + 1)) {
    if (plain(text.substr(0, at)) && is_joined(text.substr(at + 2))) return true;
  }
  return false;
}

TEST(FieldAutomaton, TakesJoinedFields) {
  const auto fields = possible_fields();
  std::mt19937 random(13);
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random_text(random, ", \ta", 7);
    Effort effort(kPlenty);
    EXPECT_EQ(fields->accepts_text(text, effort), is_joined(text)) << "`" << text << "`";
  }
}

TEST(TextAutomata, KnowTheirTexts) {
  std::mt19937 random(17);
  for (int i = 0; i < 5'000; ++i) {
    const std::string text = random_text(random, "ab/", 6);
    const std::string operand = random_text(random, "ab/", 3);
    Effort effort(kPlenty);
    EXPECT_EQ(equal_to(operand)->accepts_text(text, effort), text == operand);
    EXPECT_EQ(containing(operand)->accepts_text(text, effort), text.find(operand) != std::string::npos);
    const bool is_below = text.starts_with(operand) && (text.size() == operand.size() || text[operand.size()] == '/');
    EXPECT_EQ(below(operand)->accepts_text(text, effort), is_below) << text << " below " << operand;
  }
}

TEST(TextSearch, FindsTheShortestOrProvesThereIsNone) {
  const auto paths = possible_paths();
  const auto versions = matching("^/api/v[0-9]+$");
  const auto one = matching("^/api/v1");
  const auto api = below("/api");
  Effort effort(kPlenty);
  std::string text;
  ASSERT_EQ(search_text({{paths.get(), true}, {versions.get(), true}, {one.get(), false}}, effort, text),
            TextFound::kText);
  EXPECT_EQ(text, "/api/v0");
  EXPECT_EQ(search_text({{paths.get(), true}, {versions.get(), true}, {api.get(), false}}, effort, text),
            TextFound::kNone);
  // One pattern implies another.
  const auto wide = matching("^/api/v[0-9a-f]+");
  EXPECT_EQ(search_text({{versions.get(), true}, {wide.get(), false}}, effort, text), TextFound::kNone);
  EXPECT_EQ(search_text({{wide.get(), true}, {versions.get(), false}}, effort, text), TextFound::kText);
}

TEST(TextSearch, SaysSoWhenTheEffortEnds) {
  // Needs as many states as subsets of twenty places.
  const auto hard = matching("^[ab]*a[ab]{20}$");
  const auto other = matching("^[ab]*b[ab]{19}$");
  Effort effort(10'000);
  std::string text;
  EXPECT_EQ(search_text({{hard.get(), true}, {other.get(), false}, {hard.get(), false}}, effort, text),
            TextFound::kNotDecided);
  EXPECT_TRUE(effort.exhausted());
}

}  // namespace
}  // namespace edge::compiler::analyze
