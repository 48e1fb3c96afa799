#include "edgectl/web/api/object_facts.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "schemas/schema.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;

std::string text(const std::vector<Reference>& references) {
  std::string out;
  for (const Reference& one : references)
    out += one.kind + " " + one.name_space + "/" + one.name + " " + one.field + "\n";
  return out;
}

Verdict verdict(const std::string& status) {
  return verdict_of(conditions_of(parse_json(R"({"status":)" + status + "}")));
}

TEST(ObjectFacts, TheWorstConditionIsTheVerdict) {
  EXPECT_EQ(verdict("{}").health, Health::kUnknown);
  EXPECT_EQ(verdict(R"({"conditions":[{"type":"Programmed","status":"True"}]})").health, Health::kGood);
  EXPECT_EQ(verdict(R"({"conditions":[{"type":"Programmed","status":"Unknown"}]})").health, Health::kPending);
  const Verdict bad =
      verdict(R"({"conditions":[{"type":"Shadowed","status":"True","reason":"Shadowed","message":"by a"},
      {"type":"ResolvedRefs","status":"False","reason":"BackendNotFound","message":"no b"}]})");
  EXPECT_EQ(bad.health, Health::kBad);
  EXPECT_EQ(bad.problem, "ResolvedRefs: BackendNotFound: no b");
  const Verdict shadowed =
      verdict(R"({"conditions":[{"type":"Shadowed","status":"True","reason":"Shadowed","message":"by a"}]})");
  EXPECT_EQ(shadowed.health, Health::kWarning);
  EXPECT_EQ(shadowed.problem, "Shadowed: by a");
  EXPECT_EQ(verdict(R"({"conditions":[{"type":"Shadowed","status":"False"}]})").health, Health::kGood);
  EXPECT_EQ(verdict(R"({"conditions":[{"type":"SomethingElse","status":"False"}]})").health, Health::kUnknown);
}

TEST(ObjectFacts, ConditionsOfParentsAndListenersAreNamed) {
  const auto all = conditions_of(parse_json(R"({"status":{"conditions":[{"type":"Accepted","status":"True"}],
      "parents":[{"parentRef":{"name":"web","sectionName":"https"},"conditions":[{"type":"Accepted","status":"False"}]}],
      "listeners":[{"name":"http","conditions":[{"type":"Programmed","status":"True"}]}]}})"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].of, "");
  EXPECT_EQ(all[1].of, "web/https");
  EXPECT_EQ(all[2].of, "http");
}

TEST(ObjectFacts, OddStatusesHaveNoConditions) {
  for (const char* odd :
       {"null", "7", R"({"status":7})", R"({"status":{"conditions":{}}})", R"({"status":{"parents":[7]}})"}) {
    EXPECT_TRUE(conditions_of(parse_json(odd)).empty()) << odd;
  }
}

TEST(ObjectFacts, ReferencesHaveTheKindOfTheirField) {
  EXPECT_EQ(text(references_of(parse_json(R"({"kind":"ProxyRoute","metadata":{"namespace":"shop"},"spec":{
      "parentRefs":[{"name":"web"},{"name":"web"}],"rules":[{"backendRef":{"name":"a"},"backendRefs":[{"name":"b","namespace":"other"}]}]}})"))),
            "ProxyBackend other/b backendRefs\nProxyBackend shop/a backendRef\nProxyGateway shop/web parentRefs\n");
  EXPECT_EQ(text(references_of(parse_json(R"({"kind":"HTTPRoute","metadata":{"namespace":"shop"},"spec":{
      "parentRefs":[{"name":"web"}],"rules":[{"backendRefs":[{"name":"a"},{"name":"c","kind":"ProxyBackend"}]}]}})"))),
            "Gateway shop/web parentRefs\nProxyBackend shop/c backendRefs\nService shop/a backendRefs\n");
  EXPECT_EQ(text(references_of(parse_json(R"({"kind":"ProxyGateway","metadata":{"namespace":"shop"},"spec":{
      "vipRef":"edge-system/public","listeners":[{"tls":{"certificateRef":{"name":"site"}}}]}})"))),
            "ProxyVIP edge-system/public vipRef\nSecret shop/site certificateRef\n");
  EXPECT_EQ(text(references_of(
                parse_json(R"({"kind":"Ingress","metadata":{"namespace":"shop"},"spec":{"ingressClassName":"edge",
      "defaultBackend":{"service":{"name":"a"}}}})"))),
            "IngressClass /edge ingressClassName\nService shop/a service\n");
}

// A new field that refers to something is followed, or named here with the reason.
TEST(ObjectFacts, EveryFieldThatRefersIsFollowed) {
  const auto walk = [](const auto& self, const schemas::Kind& kind, const schemas::Object& object) -> void {
    for (const schemas::Field& field : object.fields) {
      if (field.name == "status") continue;
      const std::string name(field.name);
      if (name.ends_with("Ref") || name.ends_with("Refs")) {
        // Clusters of a hub, by the names that they have there: no objects.
        const bool none = name == "clusterRefs";
        Json value = field.object == nullptr ? Json("a") : Json{{"name", "a"}};
        const bool names_kind =
            field.object != nullptr &&
            std::ranges::find(field.object->fields, "kind", &schemas::Field::name) != field.object->fields.end();
        if (names_kind) value["kind"] = "ProxyRoute";
        if (field.type == schemas::Type::kList) value = Json::array({value});
        const auto found = references_of({{"kind", std::string(kind.kind)}, {"spec", {{name, value}}}});
        EXPECT_EQ(found.size(), none ? 0U : 1U) << kind.kind << " " << name;
        for (const Reference& one : found) EXPECT_NE(schemas::find_kind(one.kind), nullptr) << one.kind;
      }
      if (field.object != nullptr) self(self, kind, *field.object);
    }
  };
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.own) walk(walk, kind, *kind.body);
  }
}

TEST(ObjectFacts, ReferencesAreBounded) {
  std::string backends;
  for (int i = 0; i < 2000; ++i) backends += (i == 0 ? "" : ",") + (R"({"name":"b)" + std::to_string(i)) + "\"}";
  const auto all = references_of(parse_json(R"({"kind":"HTTPRoute","spec":{"backendRefs":[)" + backends + "]}}"));
  EXPECT_EQ(all.size(), kMostReferences);
  EXPECT_TRUE(references_of(parse_json(R"({"spec":{"backendRef":7,"otherRefs":{"name":[]}}})")).empty());
}

}  // namespace
}  // namespace edge::edgectl::web
