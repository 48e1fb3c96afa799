#include "compiler/analyze/cost/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/sample_config.h"

namespace edge::compiler::analyze {
namespace {

using sample::any;
using sample::exact;
using sample::pattern;
using sample::prefix;
using sample::with_header;
using sample::with_query;

program::ProgramView read(const std::vector<std::byte>& bytes) {
  auto view = program::read(std::make_shared<const std::vector<std::byte>>(bytes));
  EXPECT_TRUE(view.ok());
  return *std::move(view);
}

/// a.com: two conditions at /x exactly, one at /x as a prefix, none at /y; all below it fall through to *.com, where
/// one condition stands at every path.
sample::Config two_hosts() {
  sample::Config config;
  config.route(
      "narrow", {"a.com"},
      {with_query(with_header(exact("/x"), "h", "1"), "q", "1"), with_header(prefix("/x"), "h", "2"), prefix("/y")});
  config.route("wide", {"*.com"}, {with_header(any(), "h", "3")});
  return config;
}

TEST(Cost, CountsWhatOneRequestCanMeet) {
  const auto program = read(sample::tables_only(two_hosts()));
  const Cost cost = cost_of(program);
  ASSERT_EQ(cost.hosts.size(), 2u);
  const HostCost& narrow = cost.hosts[0];
  EXPECT_EQ(narrow.pattern, "a.com");
  EXPECT_EQ(narrow.listener, "http");
  EXPECT_EQ(narrow.rules, 3u);
  EXPECT_EQ(narrow.paths, 3u) << "/x stands there exactly and as a prefix";
  EXPECT_EQ(narrow.longest_path, "/x");
  EXPECT_EQ(narrow.bound.hosts, 2u) << "with the host that it falls through to";
  EXPECT_EQ(narrow.bound.conditions, 4u) << "two, one, and the wide host's";
  EXPECT_EQ(narrow.bound.pattern_sets, 0u);
  const HostCost& wide = cost.hosts[1];
  EXPECT_EQ(wide.pattern, "*.com");
  EXPECT_EQ(wide.bound.hosts, 1u);
  EXPECT_EQ(wide.bound.conditions, 1u);
  EXPECT_EQ(wide.longest_path, "/");
}

TEST(Cost, BytesAddUpToTheProgram) {
  const auto program = read(sample::tables_only(two_hosts()));
  const Cost cost = cost_of(program);
  EXPECT_EQ(cost.program_bytes, program.bytes().size());
  EXPECT_LE(cost.table_bytes + cost.native_bytes + cost.regex_bytes, cost.program_bytes);
  EXPECT_EQ(cost.native_bytes, 0u);
  EXPECT_EQ(cost.memory_bytes(), cost.program_bytes) << "no database is unpacked";
  EXPECT_EQ(cost.hosts[0].native_hosts, 0u);
}

TEST(Cost, OfNothingIsNothing) {
  const auto program = read(sample::tables_only(sample::Config()));
  const Cost cost = cost_of(program);
  EXPECT_TRUE(cost.hosts.empty());
  EXPECT_TRUE(cost.regexes.empty());
}

TEST(Cost, PatternsAreOrderedByWhatTheyGrowTo) {
  sample::Config config;
  config.route("r", {"a.com"},
               {pattern("^/a$"), pattern("^/b{40}$"), with_header(any(), "x", "^[0-9]{3}$", MatchType::kRegex)});
  const auto program = read(sample::tables_only(config));
  const Cost cost = cost_of(program);
  ASSERT_EQ(cost.regexes.size(), 3u);
  EXPECT_THAT(cost.regexes[0].pattern, testing::StartsWith("^/b{40}"));
  EXPECT_EQ(cost.regexes[0].subject, "path");
  EXPECT_EQ(cost.regexes[0].host, "a.com");
  EXPECT_EQ(cost.regexes[0].database_patterns, 2u) << "the path's patterns are one database";
  EXPECT_GE(cost.regexes[0].positions, 40u);
  EXPECT_EQ(cost.regexes[1].subject, "header:x");
  EXPECT_LT(cost.regexes[2].positions, cost.regexes[1].positions);
  EXPECT_EQ(cost.hosts[0].patterns, 3u);
  EXPECT_EQ(cost.hosts[0].bound.pattern_sets, 2u);
}

}  // namespace
}  // namespace edge::compiler::analyze
