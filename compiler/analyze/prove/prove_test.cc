#include "compiler/analyze/prove/prove.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "compiler/analyze/prove/prove_report.h"
#include "compiler/emit/native.h"
#include "compiler/emit/tables.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/ir/lower.h"
#include "compiler/ir/test_config.h"
#include "compiler/opt/passes.h"

namespace edge::compiler::analyze {
namespace {

using ir::any;
using ir::at;
using ir::exact;
using ir::pattern;
using ir::prefix;
using ir::with_header;
using ir::with_method;
using ir::with_query;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A regex engine that is RE2 behind the compiled engine's interface.
std::function<std::optional<std::vector<bool>>(std::uint64_t, std::size_t, std::string_view)> portable_sets(
    const ir::Host& host, bool lie) {
  return [&host, lie, match = expr::regex_matcher()](std::uint64_t, std::size_t patterns, std::string_view subject) {
    std::vector<bool> hits;
    for (std::size_t i = 0; i < patterns; ++i) hits.push_back(match(host.regexes[i].pattern, subject) != lie);
    return std::optional(hits);
  };
}

struct Fixture : ir::TestConfig {
  using TestConfig::TestConfig;
  ProofStats stats;
  std::vector<Shadowing> shadowed;
  bool lying_regex = false;

  /// `code: message` of what the proof says; every host with native code.
  std::vector<std::string> proved() {
    ir::PreparedRoutes prepared;
    Diagnostics ignored;
    prepared.prepare(config, ignored);
    std::vector<std::string> lines;
    for (const auto& [key, routes] : ir::collect_hosts(config)) {
      ir::Host host = ir::lower_host(config, prepared, key, routes);
      opt::optimize(host);
      const std::vector<std::byte> bytes = emit::emit_host(config, host, 0);
      const program::SectionView view(bytes);
      auto shard = emit::build_native(program::Target::kX8664V2, {{host.id, view}});
      EXPECT_TRUE(shard.ok()) << shard.error().text;
      auto code = emit::NativeCode::load(program::Target::kX8664V2, shard->object);
      EXPECT_TRUE(code.ok()) << code.error().text;
      Engines engines;
      engines.native = [&code](std::uint64_t id) -> const program::NativeHost* {
        const program::NativeIndex& index = code->index();
        for (std::uint64_t i = 0; i < index.host_count; ++i) {
          if (index.hosts[i].host_id == id) return &index.hosts[i];
        }
        return nullptr;
      };
      engines.regex = portable_sets(host, lying_regex);
      const ProofStats one = prove_host(config, host, view, engines, diagnostics, &shadowed);
      stats.rules += one.rules;
      stats.reached += one.reached;
      stats.unreachable += one.unreachable;
      stats.undecided += one.undecided;
    }
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      lines.push_back(code_text(diagnostic.code) + " " + diagnostic.message);
      for (const auto& note : diagnostic.notes) lines.back() += "; " + note;
    }
    return lines;
  }
};

TEST(Prove, EveryReachableRuleIsReached) {
  Fixture f;
  f.route("paths", {"a.com"}, {exact("/x"), exact("/x/"), prefix("/x"), prefix("/x/y"), prefix("/z"), exact("/z")});
  f.route("fields", {"a.com"},
          {with_header(exact("/h"), "k", "v"), with_header(exact("/h"), "k", "", MatchType::kPresent),
           with_method(exact("/h"), "POST"), with_query(exact("/h"), "q", "a b&c"),
           with_header(exact("/h"), "n", "^[0-9]{3}$", MatchType::kRegex), exact("/h")});
  f.route("patterns", {"*.b.com"}, {pattern("^/v[0-9]+/"), pattern("\\.php$"), pattern("^/(?:a|b)/[^/]+/c$")});
  f.route("everywhere", {}, {any()});
  auto& route = f.route("expression", {"c.com"}, {prefix("/")});
  route.expression =
      at(R"((header:a == "1" OR NOT source_ip in "10.0.0.0/8") AND path contains "z" AND query:q != "1")");
  EXPECT_THAT(f.proved(), IsEmpty());
  EXPECT_EQ(f.stats.rules, 17U);
  EXPECT_EQ(f.stats.reached, 17U);
}

TEST(Prove, WhatIsHiddenIsToldWithItsWinnerAndARequest) {
  Fixture f;
  f.route("old", {"a.com"}, {prefix("/api")}).identity.created = 1;
  f.route("new", {"a.com"}, {prefix("/api")}).identity.created = 2;
  EXPECT_THAT(
      f.proved(),
      ElementsAre("EDGE0501 no request reaches this rule on host `a.com`: default/old rules[0].matches[0] comes "
                  "first and takes all its requests; `GET http://a.com/api` goes to the other rule"));
  EXPECT_EQ(f.stats.unreachable, 1U);
  const std::vector<ResourceStatus> statuses = shadow_statuses(f.config, f.shadowed);
  ASSERT_EQ(statuses.size(), 1U);
  EXPECT_EQ(statuses[0].name, "new");
  EXPECT_THAT(statuses[0].conditions,
              ElementsAre(Condition{"Shadowed", ConditionStatus::kTrue, "Shadowed",
                                    "rules[0].matches[0] is never reached: default/old rules[0].matches[0] takes its "
                                    "requests, such as `GET http://a.com/api`"}));
}

TEST(Prove, OnePatternThatImpliesAnotherHidesIt) {
  Fixture f;
  f.route("r", {"a.com"}, {pattern("^/api/v[0-9]"), pattern("^/api/v(?:1|22)/x$"), pattern("^/api/v[0-9a]")});
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("comes first and takes all its requests; `GET http://a.com/api/v1/x` goes"));
  EXPECT_EQ(f.stats.undecided, 0U);
}

TEST(Prove, WhatOptionsAloneReachesIsToldSo) {
  Fixture f;
  f.route("r", {"a.com"}, {prefix("/"), any()});
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("only `OPTIONS *`"));
}

TEST(Prove, WhatIsNotDecidedIsCountedAndTold) {
  Fixture f;
  f.route("r", {"a.com"}, {pattern("^/[ab]*a[ab]{16}$"), pattern("^/[ab]*b[ab]{16}$"), pattern("^/[ab]{17,}$")});
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("EDGE0504"));
  EXPECT_EQ(f.stats.undecided, 1U);
}

TEST(Prove, TwoRulesTogetherCanHideAThird) {
  Fixture f;
  f.route("one", {"a.com"}, {any()}).expression = at("header:a == \"1\"");
  f.route("two", {"a.com"}, {any()}).expression = at("header:a != \"1\"");
  f.route("zzz", {"a.com"}, {any()}).expression = at("method == \"GET\"");
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("EDGE0501"));
  EXPECT_THAT(lines[0], HasSubstr("others before it take its requests"));
}

TEST(Prove, PresenceHidesAPatternOfTheSameHeader) {
  Fixture f;
  f.route("r", {"a.com"},
          {with_header(any(), "k", "", MatchType::kPresent), with_header(any(), "k", "^[0-9]{3}$", MatchType::kRegex)});
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("EDGE0501"));
  EXPECT_EQ(f.stats.reached, 1U);
}

TEST(Prove, AnExampleOfAHeaderThatIsAClaimNamesTheClaim) {
  Fixture f;
  f.config.listeners[0].claimed_headers = {{"plan", "x-plan", true}};
  f.route("r", {"a.com"},
          {with_header(any(), "x-plan", "", MatchType::kPresent),
           with_header(any(), "x-plan", "^[0-9]{3}$", MatchType::kRegex)});
  f.route("by-expression", {"b.com"}, {prefix("/"), pattern("^/x")}).expression = at(R"(header:x-plan == "gold")");
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("EDGE0501"));
  EXPECT_THAT(lines[0], HasSubstr("--claim 'plan=000'"));
  EXPECT_THAT(lines[1], HasSubstr("--claim 'plan=gold'"));
}

TEST(Prove, APrefixHidesPatternsAndRulesWithoutAPath) {
  Fixture f;
  f.route("root", {"a.com"}, {prefix("/"), pattern("^/x"), any()});
  f.route("api", {"b.com"}, {prefix("/api"), pattern("^/api/v[0-9]$"), pattern("^/ap"), pattern("^/api$")});
  f.route("only", {"c.com"}, {exact("/x"), pattern("^/x$")});
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], HasSubstr("EDGE0502"));
  EXPECT_THAT(lines[1], HasSubstr("EDGE0501"));
  EXPECT_THAT(lines[2], HasSubstr("EDGE0502"));
  EXPECT_THAT(lines[2], HasSubstr("default/api rules[0].matches[0] takes every path"));
  EXPECT_THAT(lines[3], HasSubstr("EDGE0502"));
  EXPECT_THAT(lines[4], HasSubstr("EDGE0501"));
  EXPECT_EQ(f.stats.undecided, 0U);
}

TEST(Prove, ContradictionsAreTold) {
  Fixture f;
  f.route("r", {"a.com"}, {with_method(any(), "GET")}).expression = at("method == \"POST\"");
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("EDGE0503"));
}

TEST(Prove, AnEngineThatDisagreesIsAnError) {
  Fixture f;
  f.lying_regex = true;
  f.route("r", {"a.com"}, {pattern("^/v[0-9]$")});
  const auto lines = f.proved();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("EDGE0601"));
  EXPECT_FALSE(f.diagnostics.ok());
}

TEST(Prove, TablesThatLoseARuleAreAnError) {
  Fixture f;
  f.route("r", {"a.com"}, {exact("/x"), exact("/y")});
  ir::PreparedRoutes prepared;
  prepared.prepare(f.config, f.diagnostics);
  const auto hosts = ir::collect_hosts(f.config);
  ir::Host host = ir::lower_host(f.config, prepared, hosts.begin()->first, hosts.begin()->second);
  opt::optimize(host);
  ir::Host lost = host;
  lost.exact.erase("/y");
  const std::vector<std::byte> bytes = emit::emit_host(f.config, lost, program::kNone);
  prove_host(f.config, host, program::SectionView(bytes), {}, f.diagnostics);
  ASSERT_EQ(f.diagnostics.errors(), 1U);
  EXPECT_THAT(f.diagnostics.all()[0].message, HasSubstr("the tables do not lead to this rule"));
}

TEST(Witness, IsWrittenAsARequestLine) {
  Witness witness;
  witness.host = "a.com";
  witness.port = 8080;
  witness.path = "/x";
  witness.query = "q=1";
  witness.headers = {{"k", "it's"}};
  witness.source = *parse_ip("192.0.2.1");
  EXPECT_EQ(witness_text(witness), "GET http://a.com:8080/x?q=1 -H 'k: it'\\''s' from 192.0.2.1");
}

}  // namespace
}  // namespace edge::compiler::analyze
