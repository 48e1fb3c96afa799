#include "controller/resource_api/objects/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/crd.h"
#include "controller/resource_api/objects/read.h"

namespace edge::resource_api::objects {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json json(std::string_view text) {
  Answer<Json> value = read_json(text);
  EXPECT_TRUE(value.ok()) << text;
  return value ? *value : Json();
}

std::vector<std::string> reported(const Causes& causes) {
  std::vector<std::string> lines;
  for (const Cause& cause : causes) lines.push_back(cause.reason + " " + cause.field + ": " + cause.message);
  return lines;
}

/// A schema of a field `spec`.
SchemaPtr schema_of(std::string_view spec) {
  Causes causes;
  const Json source = {{"type", "object"}, {"properties", {{"spec", json(spec)}}}};
  SchemaPtr schema = compile_schema(source, "", causes);
  EXPECT_THAT(reported(causes), IsEmpty());
  return schema;
}

std::vector<std::string> faults(std::string_view spec_schema, std::string_view spec) {
  const SchemaPtr schema = schema_of(spec_schema);
  Causes causes;
  if (schema != nullptr) validate(*schema, Json{{"spec", json(spec)}}, nullptr, causes);
  return reported(causes);
}

std::vector<std::string> structural_faults(std::string_view source) {
  Causes causes;
  EXPECT_EQ(compile_schema(json(source), "s", causes), nullptr);
  return reported(causes);
}

TEST(Validate, TypesAreNamedAsTheyAre) {
  EXPECT_THAT(
      faults(R"({"type":"integer"})", R"("x")"),
      ElementsAre("FieldValueTypeInvalid spec: Invalid value: \"string\": spec in body must be of type integer: "
                  "\"string\""));
  EXPECT_THAT(faults(R"({"type":"integer"})", "2.0"), IsEmpty());
  EXPECT_THAT(faults(R"({"type":"integer"})", "2.5"), testing::SizeIs(1));
  EXPECT_THAT(faults(R"({"x-kubernetes-int-or-string":true})", R"("50%")"), IsEmpty());
  EXPECT_THAT(faults(R"({"x-kubernetes-int-or-string":true})", "true"), testing::SizeIs(1));
  EXPECT_THAT(faults(R"({"type":"string"})", "null"), testing::SizeIs(1));
  EXPECT_THAT(faults(R"({"type":"string","nullable":true})", "null"), IsEmpty());
}

TEST(Validate, BoundsHoldAtTheirEdges) {
  EXPECT_THAT(faults(R"({"type":"integer","minimum":1,"maximum":65535})", "1"), IsEmpty());
  EXPECT_THAT(faults(R"({"type":"integer","minimum":1,"maximum":65535})", "65535"), IsEmpty());
  EXPECT_THAT(
      faults(R"({"type":"integer","minimum":1,"maximum":65535})", "0"),
      ElementsAre("FieldValueInvalid spec: Invalid value: 0: spec in body should be greater than or equal to 1"));
  EXPECT_THAT(faults(R"({"type":"number","minimum":0,"exclusiveMinimum":true})", "0"), testing::SizeIs(1));
  EXPECT_THAT(faults(R"({"type":"string","maxLength":2})", R"("äöü")"),
              ElementsAre("FieldValueTooLong spec: Too long: may not be more than 2 bytes"));
  EXPECT_THAT(faults(R"({"type":"string","maxLength":3})", R"("äöü")"), IsEmpty());
  EXPECT_THAT(faults(R"({"type":"array","maxItems":1,"items":{"type":"string"}})", R"(["a","b"])"),
              ElementsAre("FieldValueTooMany spec: Too many: 2: must have at most 1 items"));
  EXPECT_THAT(faults(R"({"type":"integer","multipleOf":5})", "7"), testing::SizeIs(1));
  EXPECT_THAT(faults(R"({"type":"integer","format":"int32"})", "2147483648"), testing::SizeIs(1));
}

TEST(Validate, TextsFollowPatternsValuesAndFormats) {
  EXPECT_THAT(faults(R"({"type":"string","pattern":"^[a-z]+$"})", R"("A")"),
              ElementsAre("FieldValueInvalid spec: Invalid value: \"A\": spec in body should match '^[a-z]+$'"));
  EXPECT_THAT(faults(R"({"type":"string","enum":["HTTP","HTTPS"]})", R"("FTP")"),
              ElementsAre("FieldValueNotSupported spec: Unsupported value: \"FTP\": supported values: \"HTTP\", "
                          "\"HTTPS\""));
  for (const auto& [format, good, bad] :
       {std::tuple{"ipv4", "10.0.0.1", "10.0.0.256"}, std::tuple{"ipv6", "fe80::1", "10.0.0.1"},
        std::tuple{"cidr", "10.0.0.0/8", "10.0.0.0"},
        std::tuple{"date-time", "2024-02-29T10:00:00.5+02:00", "2023-02-29T10:00:00Z"},
        std::tuple{"date", "2024-02-29", "2024-2-29"}, std::tuple{"duration", "1h30m", "1 hour"},
        std::tuple{"uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"},
        std::tuple{"mac", "00:1a:2b:3c:4d:5e", "00:1a"}, std::tuple{"byte", "YWJj", "Y*Jj"},
        std::tuple{"uri", "https://a/b", "a b"}, std::tuple{"email", "a@b.c", "a"},
        std::tuple{"hostname", "a.b-c", "a..b"}}) {
    const std::string schema = Json{{"type", "string"}, {"format", format}}.dump();
    EXPECT_THAT(faults(schema, Json(good).dump()), IsEmpty()) << format;
    EXPECT_THAT(faults(schema, Json(bad).dump()), testing::SizeIs(1)) << format;
  }
}

TEST(Validate, ObjectsNeedWhatIsRequired) {
  constexpr std::string_view kSchema = R"({"type":"object","required":["a"],"minProperties":1,
    "properties":{"a":{"type":"string"},"b":{"type":"object","additionalProperties":{"type":"integer"}}}})";
  EXPECT_THAT(faults(kSchema, R"({"b":{"x":"y"}})"),
              ElementsAre("FieldValueRequired spec.a: Required value",
                          "FieldValueTypeInvalid spec.b.x: Invalid value: \"string\": spec.b.x in body must be of type "
                          "integer: \"string\""));
}

TEST(Validate, ListsOfMapsAndSetsHaveNoTwins) {
  constexpr std::string_view kMap =
      R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"],
    "items":{"type":"object","required":["n"],"properties":{"n":{"type":"string"},"v":{"type":"integer"}}}})";
  EXPECT_THAT(faults(kMap, R"([{"n":"a","v":1},{"n":"b"},{"n":"a","v":2}])"),
              ElementsAre("FieldValueDuplicate spec[2]: Duplicate value: {\"n\":\"a\"}"));
  EXPECT_THAT(
      faults(R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}})", R"(["a","b","a"])"),
      ElementsAre("FieldValueDuplicate spec[2]: Duplicate value: \"a\""));
}

TEST(Validate, LogicSaysWhatNoTypeCan) {
  constexpr std::string_view kOne = R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},
    "oneOf":[{"required":["a"]},{"required":["b"]}]})";
  EXPECT_THAT(faults(kOne, R"({"a":"x"})"), IsEmpty());
  EXPECT_THAT(faults(kOne, R"({})"),
              ElementsAre("FieldValueInvalid spec: Invalid value: \"\": \"spec\" must validate one and only one schema "
                          "(oneOf). Found none valid"));
  EXPECT_THAT(faults(kOne, R"({"a":"x","b":"y"})"),
              ElementsAre("FieldValueInvalid spec: Invalid value: \"\": \"spec\" must validate one and only one schema "
                          "(oneOf). Found 2 valid alternatives"));
  EXPECT_THAT(faults(R"({"type":"integer","anyOf":[{"minimum":10},{"maximum":2}]})", "5"), testing::SizeIs(1));
  EXPECT_THAT(faults(R"({"type":"integer","not":{"minimum":10}})", "11"), testing::SizeIs(1));
  EXPECT_THAT(faults(R"({"type":"integer","allOf":[{"minimum":10},{"maximum":20}]})", "5"), testing::SizeIs(1));
}

TEST(Validate, FaultsAreBounded) {
  Json list = Json::array();
  for (int i = 0; i < 1000; ++i) list.push_back("x");
  EXPECT_THAT(faults(R"({"type":"array","items":{"type":"integer"}})", list.dump()), testing::SizeIs(kMaxCauses));
}

TEST(Structural, WhatASchemaMustNotSay) {
  EXPECT_THAT(structural_faults(R"({"type":"string"})"),
              ElementsAre("FieldValueInvalid s.type: Invalid value: \"string\": must be object at the root"));
  EXPECT_THAT(structural_faults(R"({"type":"object","properties":{"a":{}}})"),
              ElementsAre("FieldValueRequired s.properties[a].type: Required value: must not be empty for specified "
                          "object fields"));
  EXPECT_THAT(structural_faults(R"({"type":"object","properties":{"a":{"type":"array"}}})"),
              ElementsAre("FieldValueRequired s.properties[a].items: Required value: must be specified"));
  EXPECT_THAT(structural_faults(R"({"type":"object","properties":{"a":{"type":"string","$ref":"#/x"}}})"),
              ElementsAre("FieldValueForbidden s.properties[a].$ref: Forbidden: must not be set"));
  EXPECT_THAT(structural_faults(R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})"),
              testing::SizeIs(1));
  EXPECT_THAT(structural_faults(R"({"type":"object","properties":{"a":{"type":"integer","default":"x"}}})"),
              ElementsAre("FieldValueTypeInvalid s.properties[a].default: Invalid value: \"string\": "
                          "s.properties[a].default in body must be of type integer: \"string\""));
  EXPECT_THAT(structural_faults(R"({"type":"object","oneOf":[{"properties":{"a":{"minimum":1}}}]})"),
              ElementsAre("FieldValueRequired s.properties[a]: Required value: must be specified outside of the value "
                          "validation"));
  EXPECT_THAT(structural_faults(R"({"type":"object","properties":{"l":{"type":"array","x-kubernetes-list-type":"map",
    "x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"}}}}}})"),
              ElementsAre(testing::StartsWith("FieldValueRequired s.properties[l].items.properties[k].default")));
}

TEST(Structural, DeepSchemasEnd) {
  std::string source;
  for (int i = 0; i < 90; ++i) source += R"({"type":"array","items":)";
  EXPECT_FALSE(read_json(source + std::string(90, '}')).ok());
  Json deep = {{"type", "string"}};
  for (int i = 0; i < 80; ++i) deep = {{"type", "array"}, {"items", deep}};
  Causes causes;
  EXPECT_EQ(compile_schema(Json{{"type", "object"}, {"properties", {{"a", deep}}}}, "", causes), nullptr);
}

TEST(Prune, UnknownFieldsGoAndAreTold) {
  const SchemaPtr schema = schema_of(R"({"type":"object","properties":{
    "list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}},
    "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"in":{"type":"object","properties":{"b":{"type":"string"}}}}},
    "map":{"type":"object","additionalProperties":{"type":"object","properties":{"c":{"type":"string"}}}},
    "pod":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})");
  Json object = json(R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n","bogus":1},"spec":{"x":1,
    "list":[{"a":"1"},{"a":"2","z":3}],"any":{"free":1,"in":{"b":"1","y":2}},"map":{"k":{"c":"1","w":2}},
    "pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","v":1},"spec":{"u":1}}},"top":1})");
  EXPECT_THAT(unknown_fields(*schema, object), testing::SizeIs(7));
  std::vector<std::string> dropped;
  prune(*schema, object, &dropped);
  EXPECT_THAT(dropped, testing::UnorderedElementsAre("metadata.bogus", "spec.x", "spec.list[1].z", "spec.any.in.y",
                                                     "spec.map.k.w", "spec.pod.metadata.v", "top"));
  EXPECT_EQ(object, json(R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n"},"spec":{
    "list":[{"a":"1"},{"a":"2"}],"any":{"free":1,"in":{"b":"1"}},"map":{"k":{"c":"1"}},
    "pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"u":1}}}})"));
}

TEST(Defaults, FillWhatIsAbsentBelowWhatIsThere) {
  const SchemaPtr schema = schema_of(R"({"type":"object","default":{},"properties":{
    "a":{"type":"string","default":"x"},"n":{"type":"string","default":"y","nullable":true},
    "o":{"type":"object","properties":{"p":{"type":"integer","default":5}}},
    "l":{"type":"array","items":{"type":"object","properties":{"q":{"type":"boolean","default":true}}}}}})");
  Json object = json(R"({"spec":{"a":null,"n":null,"o":{},"l":[{},{"q":false}]}})");
  apply_defaults(*schema, object);
  EXPECT_EQ(object, json(R"({"spec":{"a":"x","n":null,"o":{"p":5},"l":[{"q":true},{"q":false}]}})"));
  Json empty = Json::object();
  apply_defaults(*schema, empty);
  EXPECT_EQ(empty, json(R"({"spec":{"a":"x","n":"y"}})"));
}

TEST(Crd, NamesVersionsAndScopesAreHeldTo) {
  Json crd = json(R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  apply_crd_defaults(crd);
  EXPECT_EQ(crd["spec"]["names"]["singular"], "widget");
  EXPECT_EQ(crd["spec"]["names"]["listKind"], "WidgetList");
  Causes causes;
  validate_crd(crd, nullptr, causes);
  EXPECT_THAT(reported(causes), IsEmpty());
  EXPECT_NE(crd_schema(crd, "v1"), nullptr);
  EXPECT_EQ(crd_schema(crd, "v2"), nullptr);

  Json other = crd;
  other["metadata"]["name"] = "gadgets.example.com";
  other["spec"]["scope"] = "Everywhere";
  other["spec"]["versions"][0]["storage"] = false;
  other["spec"]["names"]["kind"] = "Gadget";
  validate_crd(other, &crd, causes);
  std::vector<std::string> fields;
  for (const Cause& cause : causes) fields.push_back(cause.field);
  EXPECT_THAT(fields, testing::UnorderedElementsAre("metadata.name", "spec.scope", "spec.versions", "spec.names.kind",
                                                    "spec.scope"));
}

TEST(Read, TellsKeysThatComeTwice) {
  std::vector<std::string> twice;
  const Answer<Json> value = read_object(R"({"a":1,"b":[{"c":1},{"c":1,"c":2}],"a":2})", &twice);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, json(R"({"a":2,"b":[{"c":1},{"c":2}]})"));
  EXPECT_THAT(twice, ElementsAre(R"(duplicate field "b[1].c")", R"(duplicate field "a")"));
  EXPECT_EQ(read_object("[]").error().code, 400);
  EXPECT_EQ(read_object("{\"a\":").error().code, 400);
  EXPECT_EQ(read_json(std::string(101, '[') + std::string(101, ']')).error().code, 400);
  EXPECT_TRUE(read_json(std::string(100, '[') + std::string(100, ']')).ok());
  EXPECT_EQ(read_json("\"\xff\"").error().code, 400);
}

}  // namespace
}  // namespace edge::resource_api::objects
