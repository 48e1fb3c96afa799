#include "compiler/analyze/explain/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/field.h"
#include "compiler/analyze/explain/passage.h"
#include "compiler/compile.h"

namespace edge::compiler::analyze {
namespace {

using testing::HasSubstr;
using MatchResult = ExplainedRule::MatchResult;

RuleMatch match_of(PathMatch::Type type, const std::string& path) {
  RuleMatch match;
  match.path.type = type;
  match.path.value.value = path;
  return match;
}

LinkedRule rule_of(RuleMatch match, std::uint32_t backend) {
  LinkedRule rule;
  rule.matches.push_back(std::move(match));
  rule.backends.push_back({backend, 1});
  return rule;
}

/// shop.example: `/cart` for x-env prod, `/cart` for all, a pattern, `/other`; `*.example`: everything.
LinkedConfig config() {
  LinkedConfig config;
  config.gateways.push_back(
      {.identity = {"ProxyGateway", "demo", "gw", 0, {}}, .addresses = {}, .trusted_proxies = {}});
  LinkedListener listener;
  listener.name = "http";
  listener.port = 8080;
  config.listeners.push_back(std::move(listener));
  for (const char* name : {"one", "two"}) {
    LinkedBackend backend;
    backend.identity = {"ProxyBackend", "demo", name, 0, {}};
    config.backends.push_back(std::move(backend));
  }
  LinkedRoute shop;
  shop.identity = {"ProxyRoute", "demo", "shop", 0, {}};
  shop.hostnames.push_back({*HostPattern::parse("shop.example"), {}});
  RuleMatch prod = match_of(PathMatch::Type::kExact, "/cart");
  prod.headers.push_back({{"x-env", {}}, {"prod", {}}, MatchType::kExact});
  shop.rules.push_back(rule_of(std::move(prod), 0));
  shop.rules.push_back(rule_of(match_of(PathMatch::Type::kPrefix, "/cart"), 1));
  shop.rules.push_back(rule_of(match_of(PathMatch::Type::kRegex, "^/item/[0-9]+$"), 0));
  shop.rules.push_back(rule_of(match_of(PathMatch::Type::kPrefix, "/other"), 0));
  shop.listeners = {0};
  LinkedRoute wide;
  wide.identity = {"ProxyRoute", "demo", "wide", 0, {}};
  wide.hostnames.push_back({*HostPattern::parse("*.example"), {}});
  wide.rules.push_back(rule_of(match_of(PathMatch::Type::kNone, ""), 1));
  wide.listeners = {0};
  config.routes = {std::move(shop), std::move(wide)};
  return config;
}

class Explain : public testing::Test {
 protected:
  void SetUp() override { compile(config()); }

  void compile(const LinkedConfig& config) {
    Compiler compiler({});
    Diagnostics diagnostics;
    const auto artifact = compiler.compile(config, diagnostics);
    ASSERT_TRUE(artifact && diagnostics.ok());
    auto view = program::read(artifact->bytes);
    ASSERT_TRUE(view.ok()) << view.error().text;
    program_ = std::move(*view);
  }

  Explanation of(std::string_view host, std::string_view path, std::vector<Field> fields = {}) {
    program::RequestView request{
        .method = "GET", .host = host, .path = path, .query = "", .headers = fields, .source = {}};
    request.source = *parse_ip("192.0.2.1");
    return explain(program_, 0, request);
  }

  program::ProgramView program_;
};

TEST_F(Explain, NamesTheWinnerAndWhatFailedBeforeIt) {
  const Explanation lost = of("shop.example", "/cart", {{"x-env", "staging"}});
  ASSERT_TRUE(lost.matched);
  EXPECT_EQ(lost.bind, "*:8080");
  EXPECT_EQ(lost.gateway, "demo/gw");
  EXPECT_EQ(lost.winner.rule, 1u);
  ASSERT_EQ(lost.hosts.size(), 2u);
  const ExplainedRule& first = lost.hosts[0].rules[0];
  EXPECT_EQ(first.match_result, MatchResult::kFailed);
  EXPECT_EQ(first.where, "exact /cart");
  EXPECT_EQ(first.failed, "header:x-env == \"prod\"");
  EXPECT_EQ(first.actual, "\"staging\"");
  EXPECT_EQ(lost.backends.at(0).name, "demo/two");
  EXPECT_FALSE(lost.hosts[1].tried);
  EXPECT_TRUE(lost.agree);

  const Explanation won = of("shop.example", "/cart", {{"x-env", "prod"}});
  EXPECT_EQ(won.winner.rule, 0u);
  EXPECT_EQ(won.backends.at(0).name, "demo/one");
}

TEST_F(Explain, AsksEveryEngine) {
  const Explanation item = of("shop.example", "/item/7");
  EXPECT_EQ(item.winner.rule, 2u);
  ASSERT_EQ(item.engines.size(), 2u);
  for (const ExplainedEngine& engine : item.engines) {
    EXPECT_EQ(engine.state, ExplainedEngine::State::kAgrees) << engine.name << ": " << engine.note;
  }
}

TEST_F(Explain, FallsThroughToTheLessSpecificHost) {
  const Explanation fell = of("shop.example", "/none");
  ASSERT_EQ(fell.hosts.size(), 2u);
  EXPECT_TRUE(fell.hosts[1].tried);
  EXPECT_EQ(fell.hosts[1].pattern, "*.example");
  EXPECT_EQ(fell.winner.route, "demo/wide");
  const std::string text = explanation_text(fell, true);
  EXPECT_THAT(text, HasSubstr("another path"));
  EXPECT_THAT(text, HasSubstr("- demo/shop rules[2].matches[0]: fails "));
}

TEST_F(Explain, SaysWhenNothingMatches) {
  const Explanation none = of("elsewhere.test", "/");
  EXPECT_FALSE(none.matched);
  EXPECT_THAT(explanation_text(none, false), HasSubstr("404"));
}

TEST_F(Explain, SeesThePathThatItsGatewayMakesOfIt) {
  LinkedConfig strict = config();
  strict.gateways[0].paths = {.merge_slashes = true, .escaped_slashes = EscapedSlashes::kReject};
  compile(strict);
  const Explanation merged = of("shop.example", "//other//x");
  EXPECT_EQ(merged.winner.rule, 3u);
  EXPECT_THAT(merged.request, HasSubstr("http://shop.example/other/x"));
  EXPECT_TRUE(merged.agree);
  const Explanation refused = of("shop.example", "/%2Fother");
  EXPECT_TRUE(refused.path_refused);
  EXPECT_FALSE(refused.matched);
  EXPECT_THAT(explanation_text(refused, false), HasSubstr("answer    400, spec.paths of the gateway"));
  EXPECT_THAT(explanation_text(of("nowhere.test", "/%2Fother"), false), HasSubstr("answer    400"));
}

TEST_F(Explain, PrintsNoControlBytesOfTheRequest) {
  const Explanation lost = of("shop.example", "/cart", {{"x-env", "\x1b[31m\"red\""}});
  const std::string text = explanation_text(lost, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr(R"(\x1b[31m\"red\")"));
}

/// As in the session: the policies come before the limit of the request's body.
TEST_F(Explain, APolicyThatAnswersGoesBeforeTheLimitOfTheBody) {
  const auto status = [&](const LinkedConfig& of) {
    compile(of);
    const std::vector<Field> fields = {{"content-length", "100"}};
    program::RequestView request{
        .method = "POST", .host = "shop.example", .path = "/other", .query = "", .headers = fields, .source = {}};
    request.source = *parse_ip("192.0.2.1");
    return pass(program_, 0, request, [](std::string_view, std::string_view) { return false; }).status;
  };
  LinkedConfig of = config();
  of.listeners[0].max_request_body = 10;
  EXPECT_EQ(status(of), 413);
  LinkedPolicy maintenance{};
  maintenance.identity = {"ProxyPolicy", "demo", "night", 0, {}};
  maintenance.type = PolicyType::kMaintenance;
  maintenance.settings = MaintenanceSettings{.enabled = true};
  maintenance.enforced = true;
  of.policies.push_back(maintenance);
  of.gateways[0].policies = {0};
  EXPECT_EQ(status(of), 503);
  of.policies[0].type = PolicyType::kFixedResponse;
  of.policies[0].settings = FixedResponseSettings{.status = 410};
  EXPECT_EQ(status(of), 410);
}

/// As agents test it (program/evaluate/request_filter.h): decoded, in any spelling, and with what is counted.
TEST_F(Explain, AFilterTestsTheHeadAsAgentsDo) {
  LinkedConfig of = config();
  LinkedPolicy filter{};
  filter.identity = {"ProxyPolicy", "demo", "form", 0, {}};
  filter.type = PolicyType::kRequestFilter;
  filter.settings = RequestFilterSettings{.status = 403,
                                          .max_headers = 4,
                                          .max_query_parameters = 2,
                                          .inspected_body_size = 16,
                                          .methods = {"POST"},
                                          .content_types = {"text/*"},
                                          .paths = {"wp admin"},
                                          .queries = {"union select"},
                                          .headers = {{"x-tool", "sqlmap"}},
                                          .bodies = {"<!ENTITY"}};
  filter.enforced = true;
  of.policies.push_back(filter);
  of.gateways[0].policies = {0};
  compile(of);
  std::optional<std::string_view> body;
  const auto words = [&](std::string_view path, std::string_view query, std::vector<Field> fields = {},
                         std::string_view method = "POST") {
    program::RequestView request{
        .method = method, .host = "shop.example", .path = path, .query = query, .headers = fields, .source = {}};
    request.source = *parse_ip("192.0.2.1");
    const Explanation explained = explain(program_, 0, request, {}, body);
    return explained.policies.empty() ? std::string() : explained.policies[0];
  };
  EXPECT_THAT(words("/other", ""), HasSubstr("in the request's head, and looks at the first 16 bytes of its body"));
  body = "xxxxxxxx<!ENTITY";
  EXPECT_THAT(words("/other", ""), HasSubstr("refuses the request: its body contains a pattern (403)"));
  body = "xxxxxxxxx<!ENTITY";
  EXPECT_THAT(words("/other", ""), HasSubstr("in the request's head, and none in the first 16 bytes of its body"));
  EXPECT_THAT(words("/other", "q=union+select"), HasSubstr("its query contains a pattern (403)")) << "heads go first";
  body.reset();
  EXPECT_THAT(words("/other", "a=1&b=2"), HasSubstr("finds no fault in the request's head"));
  EXPECT_THAT(words("/other", "", {}, "GET"), HasSubstr("(405)"));
  EXPECT_THAT(words("/other/wp%20admin", ""), HasSubstr("its path contains a pattern (403)"));
  EXPECT_THAT(words("/other", "q=union+select"), HasSubstr("its query contains a pattern (403)"));
  EXPECT_THAT(words("/other", "q=union%20select"), HasSubstr("its query contains a pattern (403)"));
  EXPECT_THAT(words("/other", "a&b&c"), HasSubstr("(400)"));
  EXPECT_THAT(words("/other", "", {{"x_tool", "sqlmap"}}), HasSubstr("a header contains a pattern (403)"));
  EXPECT_THAT(words("/other", "", {{"a", ""}, {"b", ""}, {"c", ""}}), HasSubstr("finds no fault"));
  EXPECT_THAT(words("/other", "", {{"a", ""}, {"b", ""}, {"c", ""}, {"d", ""}}), HasSubstr("(431)")) << "with host";
  EXPECT_THAT(words("/other", "", {{"content-length", "3"}}), HasSubstr("(415)"));
  EXPECT_THAT(words("/other", "", {{"content-length", "3"}, {"content-type", "Text/plain"}}),
              HasSubstr("finds no fault"));
}

}  // namespace
}  // namespace edge::compiler::analyze
