#include "runtime/policy/auth/json.h"

#include <string>

#include <gtest/gtest.h>

namespace edge::runtime::auth {
namespace {

Json good(std::string_view text) {
  Result<Json> read = read_json(text);
  EXPECT_TRUE(read.ok()) << text;
  return read ? *std::move(read) : Json{};
}

std::string fault(std::string_view text, const JsonBounds& bounds = {}) {
  const Result<Json> read = read_json(text, bounds);
  return read ? "none" : read.error().text;
}

TEST(Json, GivesWhatIsThereAndConvertsNothing) {
  const Json json = good(R"({"a":"x","n":7,"f":1.5,"t":true,"z":null,"l":["p",2],"o":{"in":"deep"}})");
  EXPECT_EQ(json.text_of("a"), "x");
  EXPECT_EQ(json.find("n")->integer(), 7);
  EXPECT_EQ(json.find("n")->number(), 7.0);
  EXPECT_EQ(json.find("f")->number(), 1.5);
  EXPECT_EQ(json.find("f")->integer(), std::nullopt);
  EXPECT_EQ(json.find("t")->boolean(), true);
  EXPECT_EQ(json.find("z")->kind(), Json::Kind::kNull);
  EXPECT_EQ(json.find("l")->items().size(), 2u);
  EXPECT_EQ(json.find("l")->items()[0].text(), "p");
  EXPECT_EQ(json.text_of("n"), std::nullopt);
  EXPECT_EQ(json.find("missing"), nullptr);
  EXPECT_EQ(json.members().size(), 7u);
}

TEST(Json, FindsNestedMembersAndPrefersTheWholeName) {
  const Json json = good(R"({"realm_access":{"roles":["a"]},"a.b":"whole","a":{"b":"nested"}})");
  EXPECT_TRUE(json.find_path("realm_access.roles")->is_array());
  EXPECT_EQ(json.find_path("a.b")->text(), "whole");
  EXPECT_EQ(json.find_path("realm_access.roles.x"), nullptr);
  EXPECT_EQ(json.find_path("realm_access."), nullptr);
  EXPECT_EQ(json.find_path(""), nullptr);
}

TEST(Json, MembersThatStandTwiceAreRefusedAtEveryDepth) {
  EXPECT_EQ(fault(R"({"a":1,"a":1})"), "a member that stands twice");
  EXPECT_EQ(fault(R"({"o":[{"a":1,"\u0061":2}]})"), "a member that stands twice");
  EXPECT_EQ(fault(R"({"a":1,"A":1})"), "none");
}

TEST(Json, WhatIsNotOneJsonTextIsRefused) {
  for (const char* text : {"", " ", "{", "{}x", "{} {}", "{'a':1}", "{\"a\":1,}", "[1,]", "01", "+1", "NaN", "1e999",
                           "\"\xff\"", "\"\xed\xa0\x80\"", "\"a\nb\"", "// c\n1", "{\"a\" 1}", "nul"}) {
    EXPECT_EQ(fault(text), "not JSON") << text;
  }
}

TEST(Json, SizeDepthAndCountsAreBounded) {
  EXPECT_EQ(fault("[1]", {.bytes = 2}), "too large");
  EXPECT_EQ(fault("[[1]]", {.depth = 2}), "none");
  EXPECT_EQ(fault("[[[1]]]", {.depth = 2}), "too deep");
  EXPECT_EQ(fault("[1,2]", {.values = 3}), "none");
  EXPECT_EQ(fault("[1,2,3]", {.values = 3}), "too many values");
  EXPECT_EQ(fault(R"({"a":1,"b":1,"c":1})", {.members = 2}), "too many members in an object");
  EXPECT_EQ(fault(std::string(60'000, '[')), "too deep");
}

TEST(Json, NumbersBeyond64BitsAreNoIntegers) {
  EXPECT_EQ(good("9223372036854775807").integer(), INT64_MAX);
  EXPECT_EQ(good("9223372036854775808").integer(), std::nullopt);
  EXPECT_EQ(good("1e3").integer(), std::nullopt);
  EXPECT_EQ(good("1e3").number(), 1000.0);
}

}  // namespace
}  // namespace edge::runtime::auth
