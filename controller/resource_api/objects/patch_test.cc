#include "controller/resource_api/objects/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/read.h"
#include "controller/resource_api/objects/schema_parts.h"

namespace edge::resource_api::objects {
namespace {

using testing::HasSubstr;

struct Case {
  const char* name;
  const char* object;
  const char* patch;
  const char* expected;  ///< JSON, or `<code> <part of the message>`
};

void holds(const Case& c, const Answer<Json>& answer) {
  const std::string expected = c.expected;
  if (expected.starts_with('4')) {
    ASSERT_FALSE(answer.ok()) << c.name << " gives " << answer->dump();
    EXPECT_EQ(std::to_string(answer.error().code), expected.substr(0, 3)) << c.name;
    EXPECT_THAT(answer.error().message, HasSubstr(expected.substr(4))) << c.name;
    return;
  }
  ASSERT_TRUE(answer.ok()) << c.name << ": " << answer.error().message;
  EXPECT_EQ(answer->dump(), Json::parse(expected).dump()) << c.name;
}

TEST(JsonPatch, DoesWhatRfc6902Says) {
  for (const Case& c : {
           Case{"add a member", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
           Case{"add replaces", R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
           Case{"add in a list", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
           Case{"add at the end", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
           Case{"add behind the end", R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":2}])", "422 invalid index"},
           Case{"add below nothing", R"({})", R"([{"op":"add","path":"/a/b","value":2}])",
                "422 add operation does not apply: doc is missing path: \"/a/b\": missing value"},
           Case{"remove", R"({"a":[1,2,3],"b":1})", R"([{"op":"remove","path":"/a/1"},{"op":"remove","path":"/b"}])",
                R"({"a":[1,3]})"},
           Case{"remove what is not there", "{}", R"([{"op":"remove","path":"/a"}])",
                "422 remove operation does not apply: doc is missing path: \"/a\""},
           Case{"replace", R"({"a":{"b":1}})", R"([{"op":"replace","path":"/a/b","value":[2]}])", R"({"a":{"b":[2]}})"},
           Case{"replace what is not there", R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])",
                "422 replace"},
           Case{"escaped names", R"({"a/b":1,"c~d":2})",
                R"([{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/c~0d","value":3}])", R"({"c~d":3})"},
           Case{"move", R"({"a":{"x":1},"b":[]})", R"([{"op":"move","from":"/a/x","path":"/b/0"}])",
                R"({"a":{},"b":[1]})"},
           Case{"move below itself", R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", "422 is below"},
           Case{"copy", R"({"a":{"x":1}})", R"([{"op":"copy","from":"/a","path":"/b"}])",
                R"({"a":{"x":1},"b":{"x":1}})"},
           Case{"a test that holds", R"({"a":[1]})", R"([{"op":"test","path":"/a","value":[1]}])", R"({"a":[1]})"},
           Case{"nothing is null", "{}", R"([{"op":"test","path":"/a","value":null}])", "{}"},
           Case{"a test that fails undoes all", R"({"a":1})",
                R"([{"op":"replace","path":"/a","value":2},{"op":"test","path":"/a","value":1}])",
                "422 testing value /a failed"},
           Case{"a leading zero", R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/01"}])", "422 missing"},
           Case{"no operation", "{}", R"([{"op":"frob","path":""}])", "422 Unexpected kind: frob"},
           Case{"no pointer", "{}", R"([{"op":"add","path":"a","value":1}])", "422 path"},
           Case{"no list", "{}", R"({"op":"add"})", "400 list of operations"},
           Case{"no object", "{}", R"([1])", "400 an operation is an object"},
       }) {
    holds(c, json_patch(Json::parse(c.object), Json::parse(c.patch)));
  }
}

TEST(JsonPatch, IsBounded) {
  Json many = Json::array();
  for (std::size_t i = 0; i <= kMaxPatchOperations; ++i) many.push_back({{"op", "test"}, {"path", ""}, {"value", 1}});
  EXPECT_EQ(json_patch(Json(1), many).error().code, 413);
  Json copies = Json::array();
  for (int i = 0; i < 60; ++i) copies.push_back({{"op", "copy"}, {"from", ""}, {"path", "/a" + std::to_string(i)}});
  EXPECT_FALSE(json_patch(Json{{"text", std::string(1000, 'x')}}, copies).ok()) << "doubled sixty times";
  Json moves = Json::array();
  for (std::size_t i = 0; i < kMaxPatchOperations; ++i) {
    moves.push_back({{"op", "move"}, {"from", i % 2 ? "/b" : "/a"}, {"path", i % 2 ? "/a" : "/b"}});
  }
  const Json small = {{"a", Json(20, 1)}};
  EXPECT_TRUE(json_patch(small, moves).ok()) << "as often as a patch can say";
  const Json large = {{"a", Json(50'000, 1)}};
  EXPECT_EQ(json_patch(large, moves).error().code, 413);
  Json deep = Json::array();
  for (std::size_t i = 0; i <= kMaxDepth; ++i) deep.push_back({{"op", "copy"}, {"from", ""}, {"path", "/a"}});
  EXPECT_FALSE(json_patch(Json::object(), deep).ok()) << "a level deeper each time";
}

TEST(MergePatch, DoesWhatRfc7386Says) {
  for (const Case& c : {
           Case{"set and remove", R"({"a":"b","c":{"d":"e","f":"g"}})", R"({"a":"z","c":{"f":null}})",
                R"({"a":"z","c":{"d":"e"}})"},
           Case{"lists are values", R"({"a":[1,2]})", R"({"a":[3]})", R"({"a":[3]})"},
           Case{"an object replaces a value", R"({"a":[1]})", R"({"a":{"b":1,"c":null}})", R"({"a":{"b":1}})"},
           Case{"no object", "{}", "[]", "400 object"},
       }) {
    holds(c, merge_patch(Json::parse(c.object), Json::parse(c.patch)));
  }
}

const Schema& pod() {
  static const SchemaPtr kPod = compile_trusted(Json::parse(R"({"type":"object","properties":{"spec":{"type":"object",
    "x-kubernetes-preserve-unknown-fields":true,"properties":{
      "containers":{"type":"array","x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name",
        "items":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{
          "env":{"type":"array","x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name","items":{"type":"object"}}}}},
      "finalizers":{"type":"array","x-kubernetes-patch-strategy":"merge","items":{"type":"string"}},
      "args":{"type":"array","items":{"type":"string"}}}}}})"));
  return *kPod;
}

TEST(StrategicMergePatch, MergesByKeysAndDirectives) {
  constexpr const char* kTwo = R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}})";
  for (
      const Case& c : {
          Case{
              "an item is merged, another added, in the patch's order", kTwo,
              R"({"spec":{"containers":[{"name":"c","image":"3"},{"name":"b","image":"9"}]}})",
              R"({"spec":{"containers":[{"image":"3","name":"c"},{"image":"1","name":"a"},{"image":"9","name":"b"}]}})"},
          Case{"delete", kTwo, R"({"spec":{"containers":[{"$patch":"delete","name":"a"}]}})",
               R"({"spec":{"containers":[{"image":"2","name":"b"}]}})"},
          Case{"delete what is not there", kTwo, R"({"spec":{"containers":[{"$patch":"delete","name":"z"}]}})", kTwo},
          Case{"replace a list", kTwo, R"({"spec":{"containers":[{"name":"z"},{"$patch":"replace"}]}})",
               R"({"spec":{"containers":[{"name":"z"}]}})"},
          Case{"replace an object", kTwo, R"({"spec":{"$patch":"replace","args":["x"]}})",
               R"({"spec":{"args":["x"]}})"},
          Case{"delete an object's fields", kTwo, R"({"spec":{"$patch":"delete"}})", R"({"spec":{}})"},
          Case{"an item without its key", kTwo, R"({"spec":{"containers":[{"image":"3"}]}})", "400 merge key: name"},
          Case{"null removes", kTwo, R"({"spec":{"containers":[{"name":"a","image":null}]}})",
               R"({"spec":{"containers":[{"name":"a"},{"image":"2","name":"b"}]}})"},
          Case{"lists without a key are values", R"({"spec":{"args":["a"]}})", R"({"spec":{"args":["b"]}})",
               R"({"spec":{"args":["b"]}})"},
          Case{"sets grow", R"({"spec":{"finalizers":["a","b"]}})", R"({"spec":{"finalizers":["c","a"]}})",
               R"({"spec":{"finalizers":["c","a","b"]}})"},
          Case{"and shrink", R"({"spec":{"finalizers":["a","b"]}})",
               R"({"spec":{"$deleteFromPrimitiveList/finalizers":["a"]}})", R"({"spec":{"finalizers":["b"]}})"},
          Case{"nested lists", R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]}})",
               R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"2"}]}]}})",
               R"({"spec":{"containers":[{"env":[{"name":"Y","value":"2"},{"name":"X","value":"1"}],"name":"a"}]}})"},
          Case{"order alone", kTwo, R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})",
               R"({"spec":{"containers":[{"image":"2","name":"b"},{"image":"1","name":"a"}]}})"},
          Case{
              "order with an addition", kTwo,
              R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"c"},{"name":"b"}],"containers":[{"name":"c"}]}})",
              R"({"spec":{"containers":[{"image":"1","name":"a"},{"name":"c"},{"image":"2","name":"b"}]}})"},
          Case{"order that misses an item", kTwo,
               R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"c"}]}})",
               "400 $setElementOrder"},
          Case{"retain keys", R"({"spec":{"strategy":{"type":"R","rolling":{"x":1}}}})",
               R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"C"}}})", R"({"spec":{"strategy":{"type":"C"}}})"},
          Case{"retain keys that miss a field", R"({"spec":{"strategy":{"type":"R"}}})",
               R"({"spec":{"strategy":{"$retainKeys":["type"],"other":"C"}}})", "400 $retainKeys"},
          Case{
              "new values keep no directive", "{}",
              R"({"spec":{"containers":[{"name":"a","env":null,"$setElementOrder/env":[]},{"$patch":"delete","name":"b"}]}})",
              R"({"spec":{"containers":[{"name":"a"}]}})"},
          Case{"unknown directive", kTwo, R"({"spec":{"$patch":"frob"}})", "400 unknown patch type"},
          Case{"mixed lists", kTwo, R"({"spec":{"containers":["a"]}})", "400 list element types"},
          Case{"no object", kTwo, "3", "400 object"},
      }) {
    holds(c, strategic_merge_patch(Json::parse(c.object), Json::parse(c.patch), pod()));
  }
}

}  // namespace
}  // namespace edge::resource_api::objects
