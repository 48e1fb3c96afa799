#include "compiler/expr/expression.h"

#include <random>

#include <gmock/gmock.h>

namespace edge::compiler::expr {
namespace {

using ::testing::HasSubstr;

/// Canonical text, or the fault as `begin-end: message [fix]`.
std::string read(std::string_view text) {
  const ParsedExpression parsed = parse_expression(text);
  EXPECT_NE(parsed.expression.has_value(), parsed.fault.has_value());
  if (parsed.expression) return to_text(*parsed.expression);
  const TextFault& fault = *parsed.fault;
  EXPECT_LE(fault.begin, fault.end);
  EXPECT_LE(fault.end, text.size());
  return std::to_string(fault.begin) + "-" + std::to_string(fault.end) + ": " + fault.message +
         (fault.fix.empty() ? "" : " [" + fault.fix + "]");
}

TEST(Expression, EveryTermOfD5) {
  EXPECT_EQ(read(R"(header:X-Env == "prod")"), R"(header:x-env == "prod")");
  EXPECT_EQ(read(R"(header:X-Env != "prod")"), R"(header:x-env != "prod")");
  EXPECT_EQ(read(R"(path exact "/a")"), R"(path exact "/a")");
  EXPECT_EQ(read(R"(path prefix "/a/")"), R"(path prefix "/a")");
  EXPECT_EQ(read(R"(path prefix "/")"), R"(path prefix "/")");
  EXPECT_EQ(read(R"(path contains "x")"), R"(path contains "x")");
  EXPECT_EQ(read(R"(method == "GET")"), R"(method == "GET")");
  EXPECT_EQ(read(R"(method != "GET")"), R"(method != "GET")");
  EXPECT_EQ(read(R"(query:Key == "v")"), R"(query:Key == "v")");
  EXPECT_EQ(read(R"(query:a != "v")"), R"(query:a != "v")");
  EXPECT_EQ(read(R"(Claim:Plan == "Gold")"), R"(claim:Plan == "Gold")");
  EXPECT_EQ(read(R"(claim:realm_access.roles != "a")"), R"(claim:realm_access.roles != "a")");
  EXPECT_EQ(read(R"(claim:https://id.test/roles contains "a b")"), R"(claim:"https://id.test/roles" contains "a b")");
  EXPECT_EQ(read(R"(NOT claim:"a b" contains "c")"), R"(NOT claim:"a b" contains "c")");
  EXPECT_EQ(read(R"(source_ip in "10.1.2.3/8")"), R"(source_ip in "10.0.0.0/8")");
  EXPECT_EQ(read(R"(source_ip in "fd00::/8")"), R"(source_ip in "fd00::/8")");
}

TEST(Expression, KeywordsIgnoreCaseAndNotBindsOverAndOverOr) {
  EXPECT_EQ(read(R"(not METHOD == "A" and Path Exact "/b" or QUERY:c == "d")"),
            R"(method != "A" AND path exact "/b" OR query:c == "d")");
  EXPECT_EQ(read(R"((method == "A" OR method == "B") AND NOT (path prefix "/a" AND path contains "b"))"),
            R"((method == "A" OR method == "B") AND NOT (path prefix "/a" AND path contains "b"))");
}

TEST(Expression, ChainsAreFlatAndDoubleNegationVanishes) {
  const auto parsed = parse_expression(R"(method == "A" AND (method == "B" AND NOT NOT method == "C"))");
  ASSERT_TRUE(parsed.expression);
  EXPECT_EQ(parsed.expression->operands.size(), 3U);
}

TEST(Expression, StringsTakeTwoEscapesAndAnyBytes) {
  EXPECT_EQ(parse_expression(R"(header:a == "q\"b\\")").expression->value, "q\"b\\");
  EXPECT_EQ(parse_expression("header:a == \"\xc3\xa9\xff\" AND method == \"G\"").expression->operands[0].value,
            "\xc3\xa9\xff");
  EXPECT_THAT(read(R"(header:"x y" == "1")"), HasSubstr("0-12: `x y` is no header name"));
  EXPECT_EQ(parse_expression(R"(query:"a b" == "1")").expression->name, "a b");
}

TEST(Expression, PathsAreNormalisedAsRequestsAre) {
  EXPECT_EQ(read(R"(path exact "/a/./b/../%7Ec")"), R"(path exact "/a/~c")");
  EXPECT_THAT(read(R"(path exact "a")"), HasSubstr("11-14: `a` is no path"));
  EXPECT_THAT(read(R"(path prefix "/../x")"), HasSubstr("is no path"));
  EXPECT_THAT(read(R"(path prefix "/x//")"), HasSubstr("empty segment"));
}

TEST(Expression, FaultsNameThePlaceAndTheRemedy) {
  EXPECT_EQ(
      read(""),
      "0-0: expected `NOT`, `header:<Name>`, `method`, `path`, `query:<key>`, `claim:<name>`, `source_ip` or `(`, "
      "found the end");
  EXPECT_EQ(read(R"(method = "GET")"), "7-8: expected `==` or `!=`, found `=` [compare with `==` or `!=`]");
  EXPECT_EQ(read(R"(methd == "GET")"),
            "0-5: expected `NOT`, `header:<Name>`, `method`, `path`, `query:<key>`, "
            "`claim:<name>`, `source_ip` or `(`, found `methd` [did you mean `method`?]");
  EXPECT_EQ(read(R"(path prefx "/a")"),
            "5-10: expected `exact`, `prefix` or `contains`, found `prefx` [did you mean `prefix`?]");
  EXPECT_EQ(read(R"(method == "A" ADN method == "B")"),
            "14-17: expected `AND`, `OR` or the end, found `ADN` [did you mean `AND`?]");
  EXPECT_THAT(read(R"(method == "A" && method == "B")"), HasSubstr("[write `AND`]"));
  EXPECT_THAT(read(R"((method == "A")"), HasSubstr("14-14: expected `AND`, `OR` or `)`, found the end"));
  EXPECT_EQ(read(R"(method == "A)"), "10-12: the string is not closed [add the closing `\"`]");
  EXPECT_THAT(read(R"(method == "A\n")"), HasSubstr("12-14: unknown escape"));
  EXPECT_THAT(read(R"(header : a == "1")"), HasSubstr("write `header:<name>`"));
  EXPECT_THAT(read(R"(method == "GE T")"), HasSubstr("10-16: `GE T` is no method"));
  EXPECT_THAT(read(R"(jwt:role == "admin")"), HasSubstr("write `claim:<name>` for a claim of a verified token"));
  EXPECT_THAT(read(R"(claim : role == "admin")"), HasSubstr("write `claim:<name>`, without spaces"));
  EXPECT_THAT(read(R"(claim:"" == "a")"), HasSubstr("0-8: the claim has no name"));
  EXPECT_THAT(read(R"(claim:a contains "")"), HasSubstr("17-19: no element of a claim is empty"));
  EXPECT_THAT(read(R"(header:a contains "x")"), HasSubstr("expected `==` or `!=`"));
  EXPECT_THAT(read(R"(source_ip in "10.0.0.0/33")"), HasSubstr("is no address block"));
  EXPECT_THAT(read(R"(path contains "")"), HasSubstr("at least one byte"));
}

TEST(Expression, DepthLengthAndTermsAreBounded) {
  const std::string term = R"(method == "A")";
  const auto nested = [&](std::size_t depth) { return std::string(depth, '(') + term + std::string(depth, ')'); };
  EXPECT_EQ(read(nested(kMaxExpressionNesting)), term);
  EXPECT_THAT(read(nested(kMaxExpressionNesting + 1)), HasSubstr("nested more than 64"));
  EXPECT_THAT(read(std::string(8'000, '(')), HasSubstr("nested more than 64"));
  std::string nots;
  for (int i = 0; i < 4'000; ++i) nots += "NOT ";
  EXPECT_THAT(read(nots + term), HasSubstr("nested more than 64"));
  EXPECT_THAT(read(std::string(kMaxExpressionBytes + 1, ' ')), HasSubstr("at most 16384"));

  std::string chain = R"(path contains "x")";
  for (std::size_t i = 1; i < 800; ++i) chain += "OR path contains\"x\"";
  EXPECT_TRUE(parse_expression(chain).expression);
  std::string wide;
  for (std::size_t i = 0; i <= kMaxExpressionTerms; ++i) wide += "\"\"";
  EXPECT_THAT(read(wide), HasSubstr("more than 1000 comparisons"));

  // Two levels a parenthesis: the tree is deeper than the nesting.
  std::string alternating;
  for (int i = 0; i < 40; ++i) alternating += term + " OR " + term + " AND (";
  EXPECT_THAT(read(alternating + term + std::string(40, ')')), HasSubstr("alternate more than"));
}

TEST(Expression, CanonicalTextReadsBack) {
  const char* const texts[] = {
      R"(NOT (method == "A" OR header:b == "c") AND path exact "/d")",
      R"(NOT source_ip in "::1" OR query:"a b" != "\"")",
  };
  for (const char* text : texts) {
    const auto parsed = parse_expression(text);
    ASSERT_TRUE(parsed.expression) << read(text);
    const auto again = parse_expression(to_text(*parsed.expression));
    ASSERT_TRUE(again.expression) << to_text(*parsed.expression);
    EXPECT_EQ(*parsed.expression, *again.expression);
  }
}

/// As `read`, of a claim.
std::string read_claim(std::string_view text) {
  static constexpr std::string_view kPolicies[] = {"OIDC", "RateLimit"};
  const ParsedExpression parsed = parse_claim(text, kPolicies);
  if (parsed.expression) return to_text(*parsed.expression);
  return std::to_string(parsed.fault->begin) + "-" + std::to_string(parsed.fault->end) + ": " + parsed.fault->message +
         (parsed.fault->fix.empty() ? "" : " [" + parsed.fault->fix + "]");
}

TEST(Claim, AsksForFactsBesideConditions) {
  EXPECT_EQ(read_claim(R"(path prefix "/admin" implies policy oidc)"), R"(NOT path prefix "/admin" OR policy OIDC)");
  EXPECT_EQ(read_claim(R"(host == "A.test" AND gateway == default/edge implies backend shop/app OR status 404)"),
            R"(NOT (host == "a.test" AND gateway == "default/edge") OR backend "shop/app" OR status 404)");
  EXPECT_EQ(read_claim(R"(host in "*.a.test" IMPLIES NOT (denied OR route "x/y") AND listener != "web")"),
            R"(NOT host in "*.a.test" OR NOT (denied OR route "x/y") AND NOT listener == "web")");
  EXPECT_EQ(read_claim("NOT status redirect"), "NOT status redirect");
}

TEST(Claim, FaultsNameThePlaceAndTheRemedy) {
  EXPECT_EQ(read_claim(R"(path prefix "/" implies policy ODIC)"),
            "31-35: `ODIC` is no type of policy [did you mean `OIDC`?]");
  EXPECT_EQ(read_claim("route shop"), "6-10: `shop` is no `namespace/name`");
  EXPECT_EQ(read_claim("status 4040"), "7-11: `4040` is no status: write `redirect` or a number such as `404`");
  EXPECT_EQ(read_claim(R"(host == "*.a.test")"), "8-18: a host is no wildcard [write `host in *.a.test`]");
  EXPECT_THAT(read_claim(R"(denied impleis denied)"), HasSubstr("[did you mean `implies`?]"));
  EXPECT_THAT(read_claim("policy"), HasSubstr("6-6: expected a name or `\"…\"`, found the end"));
  EXPECT_THAT(read_claim(""), HasSubstr("`policy`"));
}

TEST(Claim, ManyNotsBesideEachOtherAreNotNested) {
  std::string text = "NOT denied";
  for (int i = 0; i < 100; ++i) text += " AND NOT denied";
  EXPECT_THAT(read_claim(text), HasSubstr("NOT denied AND NOT denied"));
}

TEST(Expression, HasNoFacts) {
  EXPECT_EQ(read(R"(host == "a.test")"),
            "0-4: `host` is no part of a route's expression [name hosts in `spec.hostnames` and gateways in "
            "`spec.parentRefs`]");
}

TEST(Expression, NoiseIsHarmless) {
  static constexpr const char* kPieces[] = {"(",       ")",        "AND ",    "OR ",        "NOT ",      "method",
                                            "==",      "!=",       "\"",      "\\",         " ",         "header:a",
                                            "query:b", "path ",    "exact ",  "in",         "\"x\"",     "\xff",
                                            "\n",      "implies ", "denied ", "route a/b ", "status 404"};
  std::mt19937 random(7);
  for (int round = 0; round < 3'000; ++round) {
    std::string text;
    for (std::size_t i = random() % 24; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    read(text);
    read_claim(text);
  }
}

}  // namespace
}  // namespace edge::compiler::expr
