#include "controller/resource_api/objects/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/metadata.h"

namespace edge::resource_api::objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string found(std::string_view path, const Json& object) {
  std::string fault;
  const auto compiled = JsonPath::parse(path, fault);
  if (compiled == nullptr) return "fault: " + fault;
  std::string all;
  for (const Json* value : compiled->find(object)) all += (all.empty() ? "" : " ") + value->dump();
  return all;
}

TEST(JsonPath, FindsWhatColumnsAskFor) {
  const Json object = Json::parse(R"({"a":{"b":[1,2,3],"x.y":"dotted"},"s":[{"type":"Ready","status":"True","n":1},
    {"type":"Programmed","status":"False","n":2}]})");
  EXPECT_EQ(found(".a.b[0]", object), "1");
  EXPECT_EQ(found("{.a.b[-1]}", object), "3");
  EXPECT_EQ(found("$.a.b[*]", object), "1 2 3");
  EXPECT_EQ(found(".a['x.y']", object), "\"dotted\"");
  EXPECT_EQ(found(R"(.a.x\.y)", object), "\"dotted\"");
  EXPECT_EQ(found(R"(.s[?(@.type=="Ready")].status)", object), "\"True\"");
  EXPECT_EQ(found(R"(.s[?(@.type != 'Ready')].status)", object), "\"False\"");
  EXPECT_EQ(found(R"(.s[?(@.n==2)].type)", object), "\"Programmed\"");
  EXPECT_EQ(found(R"(.a['none', "x.y"])", object), "\"dotted\"");
  EXPECT_EQ(found(".a['x.y','b']", object), "\"dotted\" [1,2,3]");
  EXPECT_THAT(found(".a['x.y',]", object), testing::StartsWith("fault"));
  EXPECT_THAT(found(".a['x.y',b]", object), testing::StartsWith("fault"));
  EXPECT_EQ(found(".a.none.b", object), "");
  EXPECT_EQ(found(".a.b[3]", object), "");
  EXPECT_EQ(found(".a.b[-4]", object), "");
  for (const char* bad : {"", "a", ".a[", ".a[?(@.b==)]", "...a", "..", ".a..", ".a[x]", ".a['b]", ".a[1:2:0]",
                          ".a[::-1]", ".a[1:2:3:4]"}) {
    EXPECT_THAT(found(bad, object), testing::StartsWith("fault")) << bad;
  }
}

TEST(JsonPath, TakesSlicesAsKubectlDoes) {
  const Json object = Json::parse(R"({"a":[0,1,2,3,4]})");
  EXPECT_EQ(found(".a[1:3]", object), "1 2");
  EXPECT_EQ(found(".a[:2]", object), "0 1");
  EXPECT_EQ(found(".a[3:]", object), "3 4");
  EXPECT_EQ(found(".a[-2:]", object), "3 4");
  EXPECT_EQ(found(".a[:-3]", object), "0 1");
  EXPECT_EQ(found(".a[-9:2]", object), "0 1");
  EXPECT_EQ(found(".a[::2]", object), "0 2 4");
  EXPECT_EQ(found(".a[1::9223372036854775807]", object), "1");
  EXPECT_EQ(found(".a[4:2]", object), "");
  EXPECT_EQ(found(".a[1:99]", object), "1 2 3 4");
}

TEST(JsonPath, LooksForNamesAtEveryDepth) {
  const Json object = Json::parse(
      R"({"metadata":{"name":"a"},"spec":{"rules":[{"backendRef":{"name":"b"}},{"backendRef":{"name":"c"}}]}})");
  EXPECT_EQ(found("..name", object), R"("a" "b" "c")");
  EXPECT_EQ(found("$..backendRef.name", object), R"("b" "c")");
  EXPECT_EQ(found(".spec..name", object), R"("b" "c")");
  EXPECT_EQ(found("..rules[0]..name", object), R"("b")");
  EXPECT_EQ(found("..[1]", object), R"({"backendRef":{"name":"c"}})");
  EXPECT_EQ(found("..['name']", object), R"("a" "b" "c")");
  // A path that looks at everything again and again ends.
  Json deep = 1;
  for (int i = 0; i < 500; ++i) deep = Json{{"x", Json::array({deep})}};
  EXPECT_THAT(found("..x..x..x..x..x", deep), testing::Not(testing::StartsWith("fault")));
}

TEST(Table, HasACellForEachColumnAndType) {
  const Json source = Json::parse(R"([{"name":"HOSTS","type":"string","jsonPath":".spec.hosts"},
    {"name":"RULES","type":"integer","jsonPath":".status.rules"},{"name":"ON","type":"boolean","jsonPath":".spec.on"},
    {"name":"READY","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status","priority":1},
    {"name":"AGE","type":"date","jsonPath":".metadata.creationTimestamp"}])");
  Causes causes;
  const Columns columns = compile_columns(source, "columns", causes);
  ASSERT_TRUE(causes.empty());
  const Json object = Json::parse(R"({"metadata":{"name":"r","creationTimestamp":"2024-05-01T10:00:00Z"},
    "spec":{"hosts":["a","b"],"on":true},"status":{"rules":3,"conditions":[{"type":"Ready","status":"True"}]}})");
  const Json row = table_row(columns, object, IncludeObject::kMetadata, "v1", time_of("2024-05-01T10:05:30Z"));
  EXPECT_EQ(row["cells"], Json::parse(R"(["r","[\"a\",\"b\"]",3,true,"True","5m30s"])"));
  EXPECT_EQ(row["object"]["kind"], "PartialObjectMetadata");
  EXPECT_EQ(row["object"]["apiVersion"], "meta.k8s.io/v1");
  const Json bare = table_row(columns, Json{{"metadata", {{"name", "x"}}}}, IncludeObject::kNone, "v1", 0);
  EXPECT_EQ(bare, Json::parse(R"({"cells":["x",null,null,null,null,null]})"));
  const Json head = table_head(columns, "v1beta1", Json{{"resourceVersion", "7"}});
  EXPECT_EQ(head["apiVersion"], "meta.k8s.io/v1beta1");
  EXPECT_EQ(head["columnDefinitions"].size(), 6U);
  EXPECT_EQ(head["columnDefinitions"][4]["priority"], 1);
  EXPECT_TRUE(table_head(columns, "v1", Json(), false)["columnDefinitions"].is_null());
}

TEST(Table, ColumnsAtFaultAreTold) {
  Causes causes;
  (void)compile_columns(Json::parse(R"([{"name":"","type":"text","jsonPath":"x"},3])"), "c", causes);
  std::vector<std::string> fields;
  for (const Cause& cause : causes) fields.push_back(cause.field);
  EXPECT_THAT(fields, ElementsAre("c[0].name", "c[0].type", "c[0].jsonPath", "c[1]"));
}

TEST(Age, IsWordedAsKubectlDoes) {
  EXPECT_EQ(age_text(-10), "<invalid>");
  EXPECT_EQ(age_text(0), "0s");
  EXPECT_EQ(age_text(119), "119s");
  EXPECT_EQ(age_text(120), "2m");
  EXPECT_EQ(age_text(125), "2m5s");
  EXPECT_EQ(age_text(600), "10m");
  EXPECT_EQ(age_text(3 * 3600 + 60), "3h1m");
  EXPECT_EQ(age_text(47 * 3600), "47h");
  EXPECT_EQ(age_text(2 * 86400 + 3600), "2d1h");
  EXPECT_EQ(age_text(400 * 86400), "400d");
  EXPECT_EQ(age_text(3 * 365 * 86400), "3y");
}

TEST(Time, IsReadAndWritten) {
  EXPECT_EQ(time_of("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(time_text(time_of("2024-02-29T23:59:59.123456Z")), "2024-02-29T23:59:59Z");
  EXPECT_EQ(time_text(time_of("2024-02-29T23:59:59-01:30")), "2024-03-01T01:29:59Z");
  for (const char* bad : {"", "2024-02-30T00:00:00Z", "2024-02-29", "2024-02-29T24:00:00Z", "2024-02-29T00:00:00",
                          "2024-02-29T00:00:00.Z"}) {
    EXPECT_EQ(time_of(bad), -1) << bad;
  }
}

std::vector<std::string> metadata_faults(std::string_view metadata, NameRule rule = NameRule::kSubdomain,
                                         bool namespaced = true) {
  Causes causes;
  validate_metadata(Json{{"metadata", Json::parse(metadata)}}, rule, namespaced, causes);
  std::vector<std::string> fields;
  for (const Cause& cause : causes) fields.push_back(cause.field);
  return fields;
}

TEST(Metadata, NamesFollowTheRuleOfTheirKind) {
  EXPECT_THAT(metadata_faults(R"({"name":"a.b-c","namespace":"d"})"), IsEmpty());
  EXPECT_THAT(metadata_faults(R"({"name":"A","namespace":"d"})"), ElementsAre("metadata.name"));
  EXPECT_THAT(metadata_faults(R"({"name":"a","namespace":"d.e"})"), ElementsAre("metadata.namespace"));
  EXPECT_THAT(metadata_faults(R"({"namespace":"d"})"), ElementsAre("metadata.name"));
  EXPECT_THAT(metadata_faults(R"({"generateName":"a-","namespace":"d"})"), IsEmpty());
  EXPECT_THAT(metadata_faults(R"({"name":"1a","namespace":"d"})", NameRule::kDns1035), ElementsAre("metadata.name"));
  EXPECT_THAT(metadata_faults(R"({"name":"system:x"})", NameRule::kPathSegment, false), IsEmpty());
  EXPECT_THAT(metadata_faults(R"({"name":"a/b"})", NameRule::kPathSegment, false), ElementsAre("metadata.name"));
  EXPECT_THAT(metadata_faults(R"({"name":"a","namespace":"x"})", NameRule::kSubdomain, false),
              ElementsAre("metadata.namespace"));
}

TEST(Metadata, LabelsAnnotationsOwnersAndFinalizers) {
  EXPECT_THAT(metadata_faults(R"({"name":"a","namespace":"d","labels":{"x/y":"v_1","z":""}})"), IsEmpty());
  EXPECT_THAT(metadata_faults(R"({"name":"a","namespace":"d","labels":{"x/y/z":"v","k":"-v"}})"),
              ElementsAre("metadata.labels", "metadata.labels"));
  EXPECT_THAT(metadata_faults(R"({"name":"a","namespace":"d","labels":{"k":1}})"), ElementsAre("metadata.labels.k"));
  const std::string large =
      Json{{"name", "a"}, {"namespace", "d"}, {"annotations", {{"k", std::string(262144, 'x')}}}}.dump();
  EXPECT_THAT(metadata_faults(large), ElementsAre("metadata.annotations"));
  EXPECT_THAT(metadata_faults(R"({"name":"a","namespace":"d","ownerReferences":[{"kind":"K"}]})"), testing::SizeIs(3));
  EXPECT_THAT(metadata_faults(R"({"name":"a","namespace":"d","finalizers":["example.com/f","bad f"]})"),
              ElementsAre("metadata.finalizers"));
}

TEST(Metadata, WhatAnUpdateMustLeave) {
  const Json old = Json::parse(R"({"metadata":{"name":"a","uid":"1","deletionTimestamp":"t","finalizers":["x"]}})");
  const Json changed = Json::parse(R"({"metadata":{"name":"a","uid":"2","deletionTimestamp":"t","finalizers":["y"]}})");
  Causes causes;
  validate_metadata_update(changed, old, causes);
  std::vector<std::string> fields;
  for (const Cause& cause : causes) fields.push_back(cause.field);
  EXPECT_THAT(fields, ElementsAre("metadata.uid", "metadata.finalizers"));
}

}  // namespace
}  // namespace edge::resource_api::objects
