#include "edgectl/web/api/draft_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::edgectl::web {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

json stored() {
  return json::parse(R"({
    "apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyRoute",
    "metadata": {"name": "cart", "namespace": "shop", "uid": "u1", "resourceVersion": "7", "generation": 3,
                 "labels": {"app": "shop"}, "managedFields": [],
                 "annotations": {"note": "some remark", "kubectl.kubernetes.io/last-applied-configuration": "{}"}},
    "spec": {"rules": [{"filters": [{"set": [{"name": "Authorization", "value": "Bearer abcdef"},
                                             {"name": "X-Plain", "value": "shown"},
                                             {"name": "Cookie", "value": "sid=\"quoted\""}]}]}]},
    "status": {"conditions": []}})");
}

TEST(DraftText, ShowsWhatSomebodyWritesWithoutSecrets) {
  const std::string yaml = draft_yaml(stored());
  for (const char* absent : {"abcdef", "quoted", "some remark", "status", "uid", "resourceVersion", "last-applied"}) {
    EXPECT_THAT(yaml, Not(HasSubstr(absent))) << yaml;
  }
  EXPECT_THAT(yaml, HasSubstr("app: shop"));
  EXPECT_THAT(yaml, HasSubstr("shown"));
}

TEST(DraftText, WhatStaysIsTheObject) {
  const json live = stored();
  const Draft draft(draft_yaml(live), &live);
  ASSERT_TRUE(draft.ok()) << draft.faults().front().message;
  EXPECT_EQ(draft.object(), editable(live));
  EXPECT_EQ(draft.kind() + " " + draft.name_space() + "/" + draft.name(), "ProxyRoute shop/cart");
  EXPECT_THAT(draft.text(), HasSubstr("Bearer abcdef"));
  EXPECT_EQ(draft.hide(R"({"a":["x Bearer abcdef y"],"b":true})"), R"({"a":["x <redacted> y"],"b":true})");
}

TEST(DraftText, SecretsFollowTheNamesOfListsEntries) {
  const json live = stored();
  const Draft draft(
      "kind: ProxyRoute\nmetadata: {name: cart}\nspec:\n  rules:\n  - filters:\n    - set:\n"
      "      - {name: Cookie, value: <redacted>}\n      - {name: Authorization, value: <redacted>}\n",
      &live);
  ASSERT_TRUE(draft.ok()) << draft.faults().front().message;
  const json& set = draft.object()["spec"]["rules"][0]["filters"][0]["set"];
  EXPECT_EQ(set[0]["value"], "sid=\"quoted\"");
  EXPECT_EQ(set[1]["value"], "Bearer abcdef");
}

TEST(DraftText, NothingIsTakenFromWhereNothingIsHidden) {
  const json live = stored();
  for (const char* yaml :
       {"kind: ProxyRoute\nspec: {rules: [{filters: [{set: [{name: X-Plain, value: <redacted>}]}]}]}\n",
        "kind: ProxyRoute\nspec: {rules: [{filters: [{set: [{name: Other, value: <redacted>}]}]}]}\n",
        "kind: ProxyRoute\nspec: {rules: <redacted>}\n", "kind: ProxyRoute\nspec: {new: {deep: [<redacted>]}}\n"}) {
    const Draft draft(yaml, &live);
    ASSERT_EQ(draft.faults().size(), 1U) << yaml;
    EXPECT_THAT(draft.faults()[0].message, StartsWith("no value is hidden here"));
    EXPECT_EQ(std::string(yaml).substr(draft.faults()[0].begin, 10), "<redacted>");
  }
  EXPECT_FALSE(Draft("kind: A\nspec: {password: <redacted>}\n", nullptr).ok());
}

TEST(DraftText, PositionsAreThoseOfTheDraft) {
  const json live = stored();
  const std::string yaml =
      "kind: ProxyRoute\nspec: {rules: [{filters: [{set: [{name: Authorization, value: <redacted>}]}]}], last: here}\n";
  const Draft draft(yaml, &live);
  ASSERT_TRUE(draft.ok());
  EXPECT_EQ(draft.position(5), 5U);
  const auto at = static_cast<std::uint32_t>(draft.text().find("last"));
  EXPECT_NE(at, yaml.find("last"));
  EXPECT_EQ(draft.position(at), yaml.find("last"));
  EXPECT_EQ(draft.position(static_cast<std::uint32_t>(draft.text().find("abcdef"))), yaml.find("<redacted>"));
}

TEST(DraftText, FaultsOfTheText) {
  const auto faults = [](std::string_view yaml) {
    const Draft draft(yaml, nullptr);
    return draft.faults().empty() ? std::string() : draft.faults().front().message;
  };
  EXPECT_THAT(faults(""), HasSubstr("empty"));
  EXPECT_THAT(faults("# nothing\n"), HasSubstr("empty"));
  EXPECT_THAT(faults("a: 1\n---\nb: 1\n"), HasSubstr("several documents"));
  EXPECT_THAT(faults("- a\n"), HasSubstr("a map"));
  EXPECT_THAT(faults("a: [\n"), Not(IsEmpty()));
  EXPECT_EQ(faults("kind: ProxyRoute\n"), "");
}

TEST(DraftText, VersionsFollowWhatIsWrittenAlone) {
  const json live = stored();
  json other = live;
  other["status"] = {{"conditions", {1}}};
  other["metadata"]["resourceVersion"] = "8";
  EXPECT_EQ(version_of(other), version_of(live));
  other["metadata"]["labels"]["app"] = "other";
  EXPECT_NE(version_of(other), version_of(live));
  other = live;
  other["metadata"]["generation"] = 4;
  EXPECT_NE(version_of(other), version_of(live));
  other = live;
  other["metadata"]["uid"] = "u2";
  EXPECT_NE(version_of(other), version_of(live));
  // Kinds without a generation.
  json service = live;
  service["metadata"].erase("generation");
  other = service;
  other["metadata"]["resourceVersion"] = "8";
  EXPECT_NE(version_of(other), version_of(service));
}

}  // namespace
}  // namespace edge::edgectl::web
