// The reference is the measure of every engine, so its own cases are worked out by hand from decisions.md.
#include "tests/reference/reference.h"

#include <gtest/gtest.h>

namespace edge::reference {
namespace {

using compiler::LinkedConfig;
using compiler::MatchType;
using compiler::PathMatch;
using compiler::RuleMatch;

constexpr Bind kBind{std::nullopt, 80};

LinkedConfig one_listener(std::vector<std::string> hostnames = {}) {
  LinkedConfig config;
  config.gateways.emplace_back();
  auto& listener = config.listeners.emplace_back();
  listener.port = 80;
  for (const auto& name : hostnames) listener.hostnames.push_back({*HostPattern::parse(name), {}});
  return config;
}

/// Adds a route with one rule of one match to listener 0; its place among the routes is its name.
void add_route(LinkedConfig& config, std::vector<std::string> hostnames, RuleMatch match, std::string expression = "") {
  auto& route = config.routes.emplace_back();
  route.identity.kind = "ProxyRoute";
  route.identity.name = "r" + std::to_string(config.routes.size() - 1);
  for (const auto& name : hostnames) route.hostnames.push_back({*HostPattern::parse(name), {}});
  if (!expression.empty()) route.expression = {expression, {}};
  route.listeners = {0};
  route.rules.emplace_back().matches.push_back(std::move(match));
}

RuleMatch path(PathMatch::Type type, std::string value) {
  RuleMatch match;
  match.path = {type, {std::move(value), {}}};
  return match;
}
RuleMatch exact(std::string value) { return path(PathMatch::Type::kExact, std::move(value)); }
RuleMatch prefix(std::string value) { return path(PathMatch::Type::kPrefix, std::move(value)); }
RuleMatch regex(std::string value) { return path(PathMatch::Type::kRegex, std::move(value)); }

/// The winning route of a request line; -1 for none.
int winner(const LinkedConfig& config, const std::string& line) {
  const auto parsed = parse_request_line(line);
  EXPECT_TRUE(parsed.request) << line << ": " << parsed.fault;
  const auto answer = Reference(config).answer(kBind, *parsed.request);
  return answer ? static_cast<int>(answer->route) : -1;
}

TEST(Reference, WildcardsCoverWholeLabels) {
  LinkedConfig config = one_listener();
  add_route(config, {"*.example.com"}, {});
  EXPECT_EQ(winner(config, "GET http://a.b.example.com/"), 0);
  EXPECT_EQ(winner(config, "GET http://A.Example.COM.:80/"), 0);
  EXPECT_EQ(winner(config, "GET http://example.com/"), -1);
  EXPECT_EQ(winner(config, "GET http://evilexample.com/"), -1);
}

TEST(Reference, PathsRankExactPrefixRegexNone) {
  LinkedConfig config = one_listener();
  add_route(config, {}, {});
  add_route(config, {}, regex("^/a"));
  add_route(config, {}, prefix("/a"));
  add_route(config, {}, prefix("/a/b"));
  add_route(config, {}, exact("/a/b/c"));
  EXPECT_EQ(winner(config, "GET http://x/a/b/c"), 4);
  EXPECT_EQ(winner(config, "GET http://x/a/b/"), 3);
  EXPECT_EQ(winner(config, "GET http://x/a/bc"), 2);
  EXPECT_EQ(winner(config, "GET http://x/ab"), 1);
  EXPECT_EQ(winner(config, "GET http://x/b"), 0);
}

TEST(Reference, HostsFallThroughToLessSpecificOnes) {
  LinkedConfig config = one_listener();
  add_route(config, {"a.example.com"}, exact("/a"));
  add_route(config, {"*.example.com"}, exact("/b"));
  add_route(config, {}, {});
  EXPECT_EQ(winner(config, "GET http://a.example.com/a"), 0);
  EXPECT_EQ(winner(config, "GET http://a.example.com/b"), 1);
  EXPECT_EQ(winner(config, "GET http://a.example.com/c"), 2);
}

TEST(Reference, MoreHeadersThenMethodThenQueryThenAgeThenName) {
  LinkedConfig config = one_listener();
  RuleMatch plain = prefix("/");
  RuleMatch with_query = plain;
  with_query.query.push_back({{"q", {}}, {"1", {}}, MatchType::kExact});
  RuleMatch with_method = plain;
  with_method.method = {"GET", {}};
  RuleMatch with_header = plain;
  with_header.headers.push_back({{"x-a", {}}, {"1, 2", {}}, MatchType::kExact});
  for (const auto& match : {plain, with_query, with_method, with_header, plain}) add_route(config, {}, match);
  config.routes[0].identity.created = 5;
  config.routes[4].identity.created = 4;
  EXPECT_EQ(winner(config, "GET http://x/?q=1 -H 'X-A: 1' -H 'x-a: 2'"), 3);
  EXPECT_EQ(winner(config, "GET http://x/?q=1"), 2);
  EXPECT_EQ(winner(config, "PUT http://x/?q=%31&q=2"), 1);
  EXPECT_EQ(winner(config, "PUT http://x/"), 4);
  config.routes[4].identity.created = 5;
  EXPECT_EQ(winner(config, "PUT http://x/"), 0);
}

TEST(Reference, HttpRoutesAndIngressesHavePatternsBeforePrefixes) {
  for (const char* const kind : {"HTTPRoute", "Ingress"}) {
    LinkedConfig config = one_listener();
    add_route(config, {}, prefix("/a"));
    add_route(config, {}, regex("^/a/x"));
    add_route(config, {}, exact("/a/x"));
    add_route(config, {}, regex("/y$"));
    for (auto& route : config.routes) route.identity.kind = kind;
    EXPECT_EQ(winner(config, "GET http://x/a/x"), 2) << kind;
    EXPECT_EQ(winner(config, "GET http://x/a/xx"), 1) << kind;
    EXPECT_EQ(winner(config, "GET http://x/a/z"), 0) << kind;
    // Of one gRPC service more is known than of one method of all services.
    for (auto& route : config.routes) route.identity.kind = "GRPCRoute";
    EXPECT_EQ(winner(config, "GET http://x/a/y"), 0) << kind;
    // Where both meet, a ProxyRoute's patterns stay behind all prefixes.
    for (auto& route : config.routes) route.identity.kind = kind;
    config.routes[1].identity.kind = "ProxyRoute";
    EXPECT_EQ(winner(config, "GET http://x/a/xx"), 0) << kind;
    EXPECT_EQ(winner(config, "GET http://x/a/xx/y"), 3) << kind;
  }
}

TEST(Reference, HttpRoutesHaveTheMethodBeforeHeaders) {
  LinkedConfig config = one_listener();
  RuleMatch with_method = prefix("/");
  with_method.method = {"GET", {}};
  RuleMatch with_header = prefix("/");
  with_header.headers.push_back({{"x-a", {}}, {"1", {}}, MatchType::kExact});
  add_route(config, {}, with_method);
  add_route(config, {}, with_header);
  EXPECT_EQ(winner(config, "GET http://x/ -H 'x-a: 1'"), 1);
  for (auto& route : config.routes) route.identity.kind = "HTTPRoute";
  EXPECT_EQ(winner(config, "GET http://x/ -H 'x-a: 1'"), 0);
}

TEST(Reference, AtOnePathTheRulesOfOneApiStandTogether) {
  LinkedConfig config = one_listener();
  RuleMatch with_header = prefix("/");
  with_header.headers.push_back({{"x-a", {}}, {"1", {}}, MatchType::kExact});
  add_route(config, {}, prefix("/"));  // the oldest of all
  add_route(config, {}, with_header);  // of the other API
  add_route(config, {}, with_header);  // of the oldest's API
  for (std::size_t i = 0; i < 3; ++i) config.routes[i].identity.created = static_cast<std::int64_t>(i);
  config.routes[0].identity.kind = config.routes[2].identity.kind = "HTTPRoute";
  EXPECT_EQ(winner(config, "GET http://x/ -H 'x-a: 1'"), 2);
  config.routes[1].identity.created = -1;
  EXPECT_EQ(winner(config, "GET http://x/ -H 'x-a: 1'"), 1);
  EXPECT_EQ(winner(config, "GET http://x/"), 0);
  // At another path its age counts for nothing.
  config.routes[1].rules[0].matches[0].path.value.value = "/else";
  config.routes[0].rules[0].matches[0].path.value.value = "/longer";
  EXPECT_EQ(winner(config, "GET http://x/ -H 'x-a: 1'"), 2);
}

TEST(Reference, ExpressionsBindNotOverAndOverOr) {
  LinkedConfig config = one_listener();
  add_route(config, {}, {}, R"(not header:X-A == "1" AND method == "GET" or path contains "zz")");
  EXPECT_EQ(winner(config, "GET http://x/"), 0);
  EXPECT_EQ(winner(config, "GET http://x/ -H 'x-a: 1'"), -1);
  EXPECT_EQ(winner(config, "PUT http://x/azz -H 'x-a: 1'"), 0);
  config.routes[0].expression->value = R"(header:X-A != "a\"b\\" and source_ip in "10.0.0.0/8")";
  EXPECT_EQ(winner(config, "GET http://x/ from 10.1.2.3"), 0);
  EXPECT_EQ(winner(config, R"(GET http://x/ -H 'x-a: a"b\' from 10.1.2.3)"), -1);
  EXPECT_EQ(winner(config, "GET http://x/ from 11.1.2.3"), -1);
  config.routes[0].expression->value = "method == ";
  EXPECT_EQ(winner(config, "GET http://x/"), -1);
}

TEST(Reference, ARequestBelongsToTheMostSpecificListenerAlone) {
  LinkedConfig config = one_listener({"*.example.com"});
  auto& exact_listener = config.listeners.emplace_back(config.listeners[0]);
  exact_listener.hostnames = {{*HostPattern::parse("a.example.com"), {}}};
  add_route(config, {}, {});
  EXPECT_EQ(winner(config, "GET http://b.example.com/"), 0);
  EXPECT_EQ(winner(config, "GET http://a.example.com/"), -1);
  EXPECT_EQ(winner(config, "GET http://c.org/"), -1);
}

TEST(RequestLine, IsWrittenAsItIsRead) {
  const std::string line = "PUT http://a.b:81/x%2Fy?q=1 -H 'x-a: 1 2' -H 'x-b: ' from 10.0.0.1 to 10.0.0.2";
  const auto parsed = parse_request_line(line);
  ASSERT_TRUE(parsed.request) << parsed.fault;
  EXPECT_EQ(request_line(*parsed.request), line);
  EXPECT_EQ(parse_request_line("GET http://a/../..").fault, "path");
  EXPECT_EQ(parse_request_line("GET http://a b/ c").fault, "unknown word: b/");
}

}  // namespace
}  // namespace edge::reference
