// JSON of which nothing is known.
#include "base/text/json.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge {
namespace {

using Json = nlohmann::json;

std::string nested(std::size_t depth, char open, char close) {
  return std::string(depth, open) + std::string(depth, close);
}

TEST(JsonTree, ReadsWhatIsJsonAndNotTooDeep) {
  EXPECT_EQ(parse_json(R"({"a":[1,"two",null]})"), Json({{"a", {1, "two", nullptr}}}));
  EXPECT_EQ(parse_json("7"), Json(7));
  for (const char* text : {"", "{", "{}x", "{\"a\":}", "\"\xff\"", "[1,]", "'a'"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    EXPECT_TRUE(parse_ordered_json(text).is_discarded()) << text;
  }
  EXPECT_FALSE(parse_json(nested(kMaxJsonDepth, '[', ']')).is_discarded());
  EXPECT_TRUE(parse_json(nested(kMaxJsonDepth + 1, '[', ']')).is_discarded());
  EXPECT_TRUE(parse_json(std::string(1'000'000, '[')).is_discarded());
  // Brackets in texts are none.
  EXPECT_FALSE(parse_json('"' + std::string(1'000, '[') + '"').is_discarded());
  EXPECT_FALSE(parse_json(R"("\"[)" + std::string(1'000, '[') + '"').is_discarded());
  // Side by side they do not add up.
  std::string flat = "[";
  for (int i = 0; i < 1'000; ++i) flat += "[],";
  EXPECT_FALSE(parse_json(flat + "[]]").is_discarded());
}

TEST(JsonTree, KeepsTheOrderOfMembersWhereItIsAskedTo) {
  EXPECT_EQ(json_line(parse_ordered_json(R"({"b":1, "a":2})")), R"({"b":1,"a":2})");
  EXPECT_EQ(json_line(parse_json(R"({"b":1, "a":2})")), R"({"a":2,"b":1})");
}

TEST(JsonTree, WhatIsMissingOrOfAnotherTypeIsAsIfItWereNotThere) {
  const Json object = {{"text", "t"}, {"list", {1, 2}}, {"number", 3}, {"object", {{"text", "inner"}}}};
  EXPECT_EQ(text_in(object, "text"), "t");
  EXPECT_EQ(text_in(member_in(object, "object"), "text"), "inner");
  EXPECT_EQ(list_in(object, "list").size(), 2);
  EXPECT_EQ(member_in(object, "number"), 3);
  EXPECT_EQ(integer_in(object, "number"), 3);
  EXPECT_EQ(integer_in(Json{{"number", 3.5}}, "number"), 0);
  for (const Json& other : {object, Json(), Json::array({"text"}), Json("text"), Json(1), parse_json("{")}) {
    EXPECT_TRUE(member_in(other, "none").is_null()) << other.type_name();
    EXPECT_EQ(text_in(other, "number"), "") << other.type_name();
    EXPECT_EQ(integer_in(other, "text"), 0) << other.type_name();
    EXPECT_EQ(list_in(other, "text"), Json::array()) << other.type_name();
    EXPECT_EQ(text_value(member_in(other, "list")), "") << other.type_name();
  }
}

TEST(JsonTree, WritesWhateverATextHolds) {
  const Json value = {{"a", "\xff\"\n"}, {"b", "ü"}};
  EXPECT_EQ(json_line(value), "{\"a\":\"\xEF\xBF\xBD\\\"\\n\",\"b\":\"ü\"}");
  EXPECT_EQ(indented_json(Json{{"a", Json::array()}}), "{\n  \"a\": []\n}\n");
  EXPECT_EQ(indented_json(nlohmann::ordered_json{{"b", 1}, {"a", 2}}, 1), "{\n \"b\": 1,\n \"a\": 2\n}\n");
}

}  // namespace
}  // namespace edge
