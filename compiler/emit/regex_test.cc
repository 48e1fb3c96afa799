#include "compiler/emit/regex.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::compiler::emit {
namespace {

using Sets = std::vector<std::vector<std::string>>;

std::vector<bool> hits(const RegexOutcome& outcome, std::size_t patterns, std::string_view subject) {
  if (outcome.database == nullptr) {
    ADD_FAILURE() << outcome.message;
    return {};
  }
  const auto found = RegexCompiler::scan(outcome.database->bytes, patterns, subject);
  EXPECT_TRUE(found.ok());
  return found.ok() ? *found : std::vector<bool>{};
}

TEST(Regex, TellsWhichPatternsOfASetAreFound) {
  RegexCompiler compiler("");
  const auto outcomes = compiler.compile(Sets{{"^/api/v[0-9]+", "users", "\\.png\\z", ".*"}});
  ASSERT_TRUE(outcomes.ok()) << outcomes.error().text;
  const RegexOutcome& set = outcomes->front();
  EXPECT_EQ(hits(set, 4, "/api/v12/users"), (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(hits(set, 4, "/x.png"), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(hits(set, 4, "/x.png\n"), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(hits(set, 4, ""), (std::vector<bool>{false, false, false, true}));
}

TEST(Regex, CompilesTheSameSetToTheSameBytes) {
  RegexCompiler compiler("");
  RegexCompiler other("");
  const Sets sets{{"a+b", "^/x/[a-z]{2,5}/y"}, {"foo.*bar"}};
  const auto first = compiler.compile(sets);
  const auto second = other.compile(sets);
  ASSERT_TRUE(first.ok() && second.ok());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    ASSERT_NE((*first)[i].database, nullptr);
    EXPECT_EQ((*first)[i].database->bytes, (*second)[i].database->bytes);
  }
}

TEST(Regex, NamesThePatternThatHyperscanRefuses) {
  RegexCompiler compiler("");
  const auto outcomes = compiler.compile(Sets{{"ok"}, {"fine", "(a)\\1", "also"}, {"ok2"}});
  ASSERT_TRUE(outcomes.ok());
  EXPECT_NE((*outcomes)[0].database, nullptr);
  EXPECT_EQ((*outcomes)[1].database, nullptr);
  EXPECT_EQ((*outcomes)[1].failed_pattern, 1u);
  EXPECT_FALSE((*outcomes)[1].message.empty());
  EXPECT_NE((*outcomes)[2].database, nullptr);
}

void expect_refused_alone(RegexLimits limits, const std::string& costly, const std::string& reason) {
  RegexCompiler compiler("", limits);
  const auto outcomes = compiler.compile(Sets{{"fine", costly}, {"after"}, {costly}});
  ASSERT_TRUE(outcomes.ok()) << outcomes.error().text;
  EXPECT_EQ((*outcomes)[0].database, nullptr);
  EXPECT_EQ((*outcomes)[0].failed_pattern, 1u);
  EXPECT_NE((*outcomes)[0].message.find(reason), std::string::npos) << (*outcomes)[0].message;
  EXPECT_NE((*outcomes)[1].database, nullptr) << (*outcomes)[1].message;
  EXPECT_EQ((*outcomes)[2].database, nullptr);
}

/// Some five seconds of work.
std::string costly_pattern() {
  std::string alternatives;
  for (int i = 0; i < 1200; ++i) {
    const std::string number = std::to_string(i);
    alternatives += (i == 0 ? "" : "|") + number + "x.*y" + number;
  }
  return alternatives;
}

TEST(Regex, NamesThePatternThatTakesTooMuchCpuAndGoesOn) {
  RegexLimits limits;
  limits.cpu_seconds = 0;
  expect_refused_alone(limits, costly_pattern(), "CPU time");
}

TEST(Regex, NamesThePatternThatTakesTooLongAndGoesOn) {
  RegexLimits limits;
  limits.wall = std::chrono::milliseconds(1500);
  expect_refused_alone(limits, costly_pattern(), "1500 ms");
}

/// The only child of this process.
pid_t child() {
  std::ifstream file("/proc/self/task/" + std::to_string(getpid()) + "/children");
  pid_t pid = -1;
  file >> pid;
  return pid;
}

TEST(Regex, ReplacesAWorkerThatDiedWhileItWaited) {
  RegexCompiler compiler("");
  ASSERT_TRUE(compiler.compile(Sets{{"a"}}).ok());
  const pid_t worker = child();
  ASSERT_GT(worker, 0);
  ASSERT_EQ(kill(worker, SIGKILL), 0);
  const auto outcomes = compiler.compile(Sets{{"a", "b"}});
  ASSERT_TRUE(outcomes.ok()) << outcomes.error().text;
  EXPECT_NE(outcomes->front().database, nullptr) << outcomes->front().message;
}

TEST(Regex, SaysWhenThereIsNoWorker) {
  for (const char* worker : {"/nonexistent/edge-regexc", "/bin/false", "/bin/cat"}) {
    RegexLimits limits;
    limits.wall = std::chrono::milliseconds(500);
    RegexCompiler compiler(worker, limits);
    const auto outcomes = compiler.compile(Sets{{"a"}});
    ASSERT_FALSE(outcomes.ok()) << worker;
    EXPECT_EQ(outcomes.error().code, ErrorCode::kUnavailable);
  }
}

TEST(Regex, RefusesANulByte) {
  RegexCompiler compiler("");
  const auto outcomes = compiler.compile(Sets{{"a", std::string("b\0c", 3)}});
  ASSERT_TRUE(outcomes.ok());
  EXPECT_EQ(outcomes->front().database, nullptr);
  EXPECT_EQ(outcomes->front().failed_pattern, 1u);
}

TEST(Regex, RefusesBytesThatAreNoDatabase) {
  const std::string junk(200, 'x');
  EXPECT_EQ(RegexCompiler::scan(std::as_bytes(std::span(junk)), 1, "x").error().code, ErrorCode::kDataLoss);
}

std::set<std::uint64_t> set_ids(const std::vector<std::string>& patterns) {
  std::set<std::uint64_t> ids;
  auto next = patterns.begin();
  for (const std::size_t size : regex_set_sizes(patterns)) {
    const auto end = next + static_cast<std::ptrdiff_t>(size);
    EXPECT_TRUE(ids.insert(regex_set_id({next, end})).second);
    next = end;
  }
  EXPECT_EQ(next, patterns.end());
  return ids;
}

TEST(Regex, DividesManyPatternsSoThatAnEditLeavesAllSetsButTwo) {
  std::vector<std::string> patterns;
  for (int i = 0; i < 128; ++i) patterns.push_back("^/item-" + std::to_string(i) + "$");
  EXPECT_EQ(regex_set_sizes(patterns), std::vector<std::size_t>{128});
  EXPECT_TRUE(regex_set_sizes({}).empty());
  for (int i = 128; i < 2000; ++i) patterns.push_back("^/item-" + std::to_string(i) + "$");
  for (const std::size_t size : regex_set_sizes(patterns)) EXPECT_LE(size, 128u);
  const std::set<std::uint64_t> before = set_ids(patterns);
  EXPECT_GE(before.size(), 16u);
  std::size_t most = 0;
  for (std::size_t at = 0; at < patterns.size(); at += 97) {
    std::vector<std::string> changed = patterns;
    changed[at] += "x";
    std::vector<std::string> less = patterns;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(at));
    for (const auto& edited : {changed, less}) {
      std::size_t fresh = 0;
      for (const std::uint64_t id : set_ids(edited)) fresh += before.contains(id) ? 0 : 1;
      most = std::max(most, fresh);
    }
  }
  // A set that is cut at its largest size may shift those behind it as far as the next pattern that ends one.
  EXPECT_LE(most, 4u);
}

TEST(Regex, IdentifiesSetsByTheirPatterns) {
  EXPECT_EQ(regex_set_id({"a", "b"}), regex_set_id({"a", "b"}));
  EXPECT_NE(regex_set_id({"a", "b"}), regex_set_id({"b", "a"}));
  EXPECT_NE(regex_set_id({"a", "b"}), regex_set_id({"ab"}));
  EXPECT_NE(regex_set_id({"a", ""}), regex_set_id({"a"}));
}

}  // namespace
}  // namespace edge::compiler::emit
