#include "controller/resource_api/objects/cel/cel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/schema.h"

namespace edge::resource_api::objects {
namespace {

/// `holds`, `broken: <message>`, `unknown`.
std::string reported(std::string_view rule, std::string_view self, const char* old = nullptr) {
  const auto compiled = CelRule::parse(Json{{"rule", rule}, {"message", "m"}});
  if (compiled == nullptr) return "unknown";
  const Json value = Json::parse(self);
  Json before;
  if (old != nullptr) before = Json::parse(old);
  const auto cause = compiled->broken_by(value, old == nullptr ? nullptr : &before, "spec");
  return cause == nullptr ? "holds" : "broken: " + cause->message;
}

TEST(Cel, EvaluatesRules) {
  for (const auto& [rule, self, expected] : std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"self.a == 1", R"({"a":1})", "holds"},
           {"self.a == 1", R"({"a":2})", "broken"},
           {"self.a == 1", "{}", "evaluated"},
           {"!has(self.a) || self.a == 1", "{}", "holds"},
           {"self.a == 1 || !has(self.a)", "{}", "holds"},
           {"has(self.a) && self.a == 1", "{}", "broken"},
           {"self.a == 1 && has(self.a)", "{}", "broken"},
           {"self.x in ['a', \"b\"]", R"({"x":"b"})", "holds"},
           {"self.x in self.m", R"({"x":"b","m":{"b":1}})", "holds"},
           {"size(self.l) == 2 && self.l.size() < 3", R"({"l":[1,2]})", "holds"},
           {"self.l.all(i, i > 0)", R"({"l":[1,2]})", "holds"},
           {"self.l.all(i, i > 1)", R"({"l":[1,2]})", "broken"},
           {"self.l.exists(i, i == 2)", R"({"l":[1,2]})", "holds"},
           {"self.l.exists_one(i, i == 2)", R"({"l":[2,2]})", "broken"},
           {"self.l.filter(i, i > 1).map(i, i + 1) == [3]", R"({"l":[1,2]})", "holds"},
           {"self.m.all(k, self.m[k] > 0)", R"({"m":{"a":1}})", "holds"},
           {"self.l[0] == 1 ? self.b : !self.b", R"({"l":[1],"b":true})", "holds"},
           {"self.l[5] == 1", R"({"l":[1]})", "evaluated"},
           {"duration(self.a) == duration('90s')", R"({"a":"1m30s"})", "holds"},
           {"duration(self.a) <= duration('1h')", R"({"a":"x"})", "evaluated"},
           {"self.s.startsWith('a') && self.s.endsWith('c') && self.s.contains('b')", R"({"s":"abc"})", "holds"},
           {R"(self.s.matches('^[a-z]+\\d$'))", R"({"s":"abc1"})", "holds"},
           {"has(self.__namespace__) && self.a__dash__b == 1", R"({"namespace":"x","a-b":1})", "holds"},
           {"-self.a + 3 - 1 == 1", R"({"a":1})", "holds"},
           {"(self.a) != null", R"({"a":null})", "broken"},
           {"true == (1.5 < 2)", "{}", "holds"},
           {"self.a < 'x'", R"({"a":1})", "evaluated"},
       }) {
    EXPECT_THAT(reported(rule, self), testing::HasSubstr(expected)) << rule;
  }
}

TEST(Cel, LeavesWhatItDoesNotKnow) {
  for (const char* rule : {"", "self.", "self.?a", "other == 1", "self.a ==", "self.a.frob()", "{'a': 1} == self",
                           "self.a == 1 extra", "has(self)", "self.all(x)", "'open", "b'x' == self", "url(self)"}) {
    EXPECT_EQ(reported(rule, "{}"), "unknown") << rule;
  }
  EXPECT_EQ(reported(std::string(1000, '(') + "true" + std::string(1000, ')'), "{}"), "unknown");
  EXPECT_EQ(reported(std::string(1000, '!') + "true", "{}"), "unknown");
}

TEST(Cel, TransitionsAskForWhatWas) {
  EXPECT_EQ(reported("self == oldSelf", "1"), "holds") << "there was nothing";
  EXPECT_EQ(reported("self == oldSelf", "1", "1"), "holds");
  EXPECT_EQ(reported("self == oldSelf", "1", "2"), "broken: Invalid value: \"integer\": m");
}

TEST(Cel, LongWorkIsAnError) {
  Json list = Json::array();
  for (int i = 0; i < 200; ++i) list.push_back(i);
  EXPECT_THAT(reported("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))", list.dump()),
              testing::HasSubstr("evaluated"));
}

TEST(Cel, SchemasHoldTheirRules) {
  Causes causes;
  const SchemaPtr schema = compile_schema(
      Json::parse(
          R"({"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},
        "x-kubernetes-validations":[{"rule":"!has(self.a) || !has(self.b) || self.a == self.b","message":"a and b must agree","fieldPath":".b"},
          {"rule":"self.a >= oldSelf.a"}]}}})"),
      "", causes);
  ASSERT_TRUE(causes.empty());
  const Json old = Json::parse(R"({"spec":{"a":3}})");
  validate(*schema, Json::parse(R"({"spec":{"a":1,"b":2}})"), &old, causes);
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0], (Cause{"FieldValueInvalid", "Invalid value: \"object\": a and b must agree", "spec.b"}));
  EXPECT_EQ(causes[1],
            (Cause{"FieldValueInvalid", "Invalid value: \"object\": failed rule: self.a >= oldSelf.a", "spec"}));
}

}  // namespace
}  // namespace edge::resource_api::objects
