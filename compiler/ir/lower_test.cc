#include "compiler/ir/lower.h"

#include <gmock/gmock.h>

#include "compiler/expr/expression.h"
#include "compiler/ir/dump.h"
#include "compiler/ir/test_config.h"
#include "compiler/opt/passes.h"

namespace edge::compiler::ir {
namespace {

using ::testing::HasSubstr;

struct Fixture : TestConfig {
  using TestConfig::TestConfig;

  std::string lowered() {
    PreparedRoutes prepared;
    prepared.prepare(config, diagnostics);
    std::string text;
    for (const auto& [key, routes] : collect_hosts(config)) {
      Host host = lower_host(config, prepared, key, routes);
      opt::optimize(host);
      text += dump(config, host);
    }
    return text;
  }
};

TEST(Lower, PathClassesAreApartAndPrefixesLoseTheirSlash) {
  Fixture f;
  f.route("r", {"a.com"}, {exact("/x/"), prefix("/"), prefix("/x"), pattern("^/y$"), any()});
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n"
            "  exact \"/x/\"\n    default/r rules[0].matches[0]\n"
            "  prefix \"/x\"\n    default/r rules[0].matches[2]\n"
            "  prefix \"/\"\n    default/r rules[0].matches[1]\n"
            "  regex\n    default/r rules[0].matches[3] when path matches \"^/y\\\\z\"\n"
            "  any path\n    default/r rules[0].matches[4]\n"
            "  pattern 0 of path \"^/y\\\\z\"\n");
}

TEST(Lower, D1OrdersByHeadersThenMethodThenQuery) {
  Fixture f;
  f.route("a", {"a.com"}, {exact("/x"), with_query(with_query(exact("/x"), "p", "1"), "q", "2")});
  f.route("b", {"a.com"}, {with_method(exact("/x"), "GET")});
  f.route("c", {"a.com"}, {with_header(exact("/x"), "k", "v")});
  f.route("d", {"a.com"}, {with_header(with_header(exact("/x"), "k", "v"), "l", "", MatchType::kPresent)});
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n"
            "  exact \"/x\"\n"
            "    default/d rules[0].matches[0] when header:k == \"v\" AND header:l present\n"
            "    default/c rules[0].matches[0] when header:k == \"v\"\n"
            "    default/b rules[0].matches[0] when method == \"GET\"\n"
            "    default/a rules[0].matches[1] when query:p == \"1\" AND query:q == \"2\"\n"
            "    default/a rules[0].matches[0]\n");
}

TEST(Lower, D1BreaksTiesByAgeThenName) {
  Fixture f;
  f.route("b", {"a.com"}, {exact("/x")}).identity.created = 20;
  f.route("c", {"a.com"}, {exact("/x")}).identity.created = 10;
  f.route("a", {"a.com"}, {exact("/x")}).identity.created = 20;
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n  exact \"/x\"\n    default/c rules[0].matches[0]\n"
            "  shadowed default/a rules[0].matches[0] by default/c rules[0].matches[0]\n"
            "  shadowed default/b rules[0].matches[0] by default/c rules[0].matches[0]\n");
}

TEST(Lower, PatternsOfHttpRoutesComeBeforePrefixesAndThoseOfProxyRoutesBehind) {
  Fixture f;
  f.route("http", {"a.com"},
          {prefix("/x"), pattern("^/h$"), with_header(prefix("/y"), "k", "v"), with_method(prefix("/y"), "GET")})
      .identity.kind = "HTTPRoute";
  f.route("own", {"a.com"}, {prefix("/z"), pattern("^/p$")});
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n"
            "  regex before prefixes\n    default/http rules[0].matches[1] when path matches \"^/h\\\\z\"\n"
            "  prefix \"/z\"\n    default/own rules[0].matches[0]\n"
            "  prefix \"/y\"\n"
            "    default/http rules[0].matches[3] when method == \"GET\"\n"
            "    default/http rules[0].matches[2] when header:k == \"v\"\n"
            "  prefix \"/x\"\n    default/http rules[0].matches[0]\n"
            "  regex\n    default/own rules[0].matches[1] when path matches \"^/p\\\\z\"\n"
            "  pattern 0 of path \"^/h\\\\z\"\n"
            "  pattern 1 of path \"^/p\\\\z\"\n");
}

TEST(Lower, AtOnePathTheRulesOfTheOldestRoutesApiComeFirst) {
  Fixture f;
  f.route("c", {"a.com"}, {with_method(prefix("/"), "GET")}).identity.created = 30;
  f.route("b", {"a.com"}, {with_header(prefix("/"), "k", "v")}).identity.created = 20;
  f.route("a", {"a.com"}, {prefix("/")}).identity.created = 10;
  f.config.routes[0].identity.kind = f.config.routes[2].identity.kind = "HTTPRoute";
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n"
            "  prefix \"/\"\n"
            "    default/c rules[0].matches[0] when method == \"GET\"\n"
            "    default/a rules[0].matches[0]\n"
            "  shadowed default/b rules[0].matches[0] by default/a rules[0].matches[0]\n");
}

TEST(Lower, NamespaceAndNameAreComparedAsOneText) {
  Fixture f;
  f.route("x", {"a.com"}, {exact("/x")}).identity.name_space = "a";
  f.route("x", {"a.com"}, {exact("/x")}).identity.name_space = "a-b";
  EXPECT_THAT(f.lowered(), HasSubstr("shadowed a/x rules[0].matches[0] by a-b/x rules[0].matches[0]"));
}

TEST(Lower, TheExpressionHoldsBesideEveryMatch) {
  Fixture f;
  auto& route = f.route("r", {"a.com"}, {with_method(exact("/x"), "GET"), any()});
  route.expression = at("header:A == \"1\" OR NOT source_ip in \"10.0.0.0/8\"");
  EXPECT_EQ(
      f.lowered(),
      "host a.com on default/edge http\n"
      "  exact \"/x\"\n    default/r rules[0].matches[0] when method == \"GET\" AND (header:a == \"1\" OR NOT "
      "source_ip in \"10.0.0.0/8\")\n"
      "  any path\n    default/r rules[0].matches[1] when header:a == \"1\" OR NOT source_ip in \"10.0.0.0/8\"\n");
}

TEST(Lower, AFaultyPartTakesTheWholeRouteOut) {
  Fixture f;
  f.route("bad-expression", {"a.com"}, {exact("/x")}).expression = at("header:A = \"1\"");
  f.route("bad-pattern", {"a.com"}, {exact("/y"), pattern("^/(")});
  f.route("good", {"a.com"}, {exact("/z")});
  EXPECT_EQ(f.lowered(), "host a.com on default/edge http\n  exact \"/z\"\n    default/good rules[0].matches[0]\n");
  EXPECT_EQ(f.diagnostics.errors(), 2U);
}

TEST(Lower, APrefixHasAtMost64Segments) {
  Fixture f;
  std::string path;
  for (int i = 0; i < 64; ++i) path += "/s";
  f.route("at-limit", {"a.com"}, {prefix(path)});
  f.route("over", {"a.com"}, {prefix(path + "/s")});
  EXPECT_THAT(f.lowered(), ::testing::Not(HasSubstr("default/over")));
  ASSERT_EQ(f.diagnostics.errors(), 1U);
  EXPECT_EQ(f.diagnostics.all()[0].code, DiagnosticCode::kTooDeep);
}

TEST(Lower, TheDeepestExpressionFitsTheProgram) {
  // AND and OR in turns, one parenthesis each.
  std::string text;
  constexpr std::size_t kLevels = expr::kMaxExpressionDepth - 2;
  for (std::size_t i = 0; i < kLevels; ++i) text += "header:a == \"1\" " + std::string(i % 2 ? "AND (" : "OR (");
  text += "header:b == \"1\" AND header:c == \"1\"" + std::string(kLevels, ')');
  Fixture f;
  f.route("r", {"a.com"}, {with_method(with_header(any(), "d", "1"), "GET")}).expression = at(text);
  PreparedRoutes prepared;
  prepared.prepare(f.config, f.diagnostics);
  ASSERT_EQ(f.diagnostics.errors(), 0U) << f.diagnostics.all()[0].message;
  const auto hosts = collect_hosts(f.config);
  Host host = lower_host(f.config, prepared, hosts.begin()->first, hosts.begin()->second);
  opt::optimize(host);
  std::vector<std::uint32_t> depth(host.nodes.size(), 1);
  for (std::size_t i = 0; i < host.nodes.size(); ++i) {
    for (const auto operand : host.nodes[i].operands) depth[i] = std::max(depth[i], depth[operand] + 1);
  }
  EXPECT_GT(depth.back(), kLevels - 4);
  EXPECT_LE(depth.back(), program::kMaxPredicateDepth);
}

TEST(Lower, AFaultPointsIntoTheValue) {
  Fixture f;
  auto& route = f.route("r", {"a.com"}, {any()});
  route.expression = at("method = \"GET\"");
  f.lowered();
  ASSERT_EQ(f.diagnostics.errors(), 1U);
  ASSERT_TRUE(f.diagnostics.all()[0].within);
  EXPECT_EQ(f.diagnostics.all()[0].within->begin, 7U);
  EXPECT_EQ(f.diagnostics.all()[0].within->end, 8U);
  EXPECT_EQ(f.diagnostics.all()[0].field, "spec.expression");
}

TEST(Lower, RoutesMeetListenersInTheirCommonNames) {
  Fixture f({"*.a.com", "b.com"});
  f.route("wide", {"*.com"}, {exact("/w")});
  f.route("narrow", {"x.a.com"}, {exact("/n")});
  f.route("foreign", {"c.com"}, {exact("/f")});
  f.route("nameless", {}, {exact("/e")});
  const std::string text = f.lowered();
  EXPECT_THAT(text, HasSubstr("host *.a.com on default/edge http\n  exact \"/w\""));
  EXPECT_THAT(text, HasSubstr("host b.com on default/edge http\n  exact \"/w\""));
  EXPECT_THAT(text, HasSubstr("host x.a.com on default/edge http\n  exact \"/n\""));
  EXPECT_THAT(text, HasSubstr("host (every host) on default/edge http\n  exact \"/e\""));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("c.com")));
}

TEST(Lower, TheOrderOfRoutesDoesNotShow) {
  Fixture f;
  f.route("a", {"a.com"}, {with_header(exact("/x"), "k", "^v$", MatchType::kRegex), pattern("^/p")});
  f.route("b", {"a.com"}, {with_query(exact("/x"), "q", "1"), pattern("^/q")});
  const std::string forward = f.lowered();
  std::reverse(f.config.routes.begin(), f.config.routes.end());
  EXPECT_EQ(f.lowered(), forward);
}

TEST(Optimize, WhatThePathDecidesIsFolded) {
  Fixture f;
  f.route("r", {"a.com"}, {exact("/a/b"), prefix("/a"), prefix("/c"), any()}).expression =
      at("path prefix \"/a/b\" AND method == \"GET\"");
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n"
            "  exact \"/a/b\"\n    default/r rules[0].matches[0] when method == \"GET\"\n"
            "  prefix \"/a\"\n    default/r rules[0].matches[1] when path prefix \"/a/b\" AND method == \"GET\"\n"
            "  any path\n    default/r rules[0].matches[3] when path prefix \"/a/b\" AND method == \"GET\"\n"
            "  impossible default/r rules[0].matches[2]\n");
}

TEST(Optimize, ContradictionsAreFound) {
  Fixture f;
  f.route("r", {"a.com"}, {with_method(any(), "GET")}).expression = at("method == \"POST\"");
  f.route("s", {"a.com"}, {any()}).expression = at("header:a == \"1\" AND header:a != \"1\"");
  f.route("t", {"a.com"}, {any()}).expression = at("header:a == \"1\" OR header:a != \"1\"");
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n  any path\n    default/t rules[0].matches[0]\n"
            "  impossible default/r rules[0].matches[0]\n"
            "  impossible default/s rules[0].matches[0]\n");
}

TEST(Optimize, AWeakerConditionHidesAStrongerOneAfterIt) {
  Fixture f;
  f.route("a", {"a.com"}, {with_method(any(), "GET")}).identity.created = 1;
  auto& late = f.route("b", {"a.com"}, {with_method(any(), "GET")});
  late.identity.created = 2;
  late.expression = at("query:q == \"1\"");
  EXPECT_THAT(f.lowered(), HasSubstr("shadowed default/b rules[0].matches[0] by default/a rules[0].matches[0]"));
}

TEST(Optimize, APatternThatIsAlwaysFoundIsPresence) {
  Fixture f;
  f.route("a", {"a.com"}, {with_header(any(), "k", ".*", MatchType::kRegex), pattern(".*")});
  EXPECT_EQ(f.lowered(),
            "host a.com on default/edge http\n  regex\n    default/a rules[0].matches[1]\n"
            "  any path\n    default/a rules[0].matches[0] when header:k present\n");
}

}  // namespace
}  // namespace edge::compiler::ir
