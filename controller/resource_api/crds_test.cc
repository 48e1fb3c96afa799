// Kinds that are installed, changed and removed; and what holds for their objects alone.
#include <gmock/gmock.h>

#include "controller/resource_api/registry.h"
#include "controller/resource_api/test_api.h"

namespace edge::resource_api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string kWidgets = "/apis/example.com/v1/namespaces/default/widgets";

Json version_of(const std::string& name, bool storage) {
  const Json spec = {
      {"type", "object"},
      {"properties",
       {{"size", {{"type", "integer"}, {"minimum", 1}}}, {"color", {{"type", "string"}, {"default", "red"}}}}}};
  return {
      {"name", name},
      {"served", true},
      {"storage", storage},
      {"subresources", {{"status", Json::object()}}},
      {"selectableFields", Json::array({{{"jsonPath", ".spec.color"}}})},
      {"additionalPrinterColumns", Json::array({{{"name", "Size"}, {"type", "integer"}, {"jsonPath", ".spec.size"}}})},
      {"schema",
       {{"openAPIV3Schema",
         {{"type", "object"},
          {"properties",
           {{"spec", spec}, {"status", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}}}};
}

Json widget_crd(const std::string& plural = "widgets", const std::string& kind = "Widget") {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + ".example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"names", {{"plural", plural}, {"kind", kind}, {"shortNames", Json::array({plural.substr(0, 2)})}}},
            {"scope", "Namespaced"},
            {"versions", Json::array({version_of("v1", true)})}}}};
}

Json widget(const std::string& name, int size) {
  return {
      {"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}, {"spec", {{"size", size}}}};
}

std::string condition(const Json& crd, const std::string& type) {
  for (const Json& each : crd["status"]["conditions"]) {
    if (each["type"] == type) return each["status"].get<std::string>() + " " + each["reason"].get<std::string>();
  }
  return "";
}

class CrdTest : public ApiTest {};

TEST_F(CrdTest, AKindIsInstalledUsedAndRemovedWithItsObjects) {
  EXPECT_EQ(create(kWidgets, widget("a", 1)).status, 404);
  const Answer crd = create(kCrds, widget_crd());
  ASSERT_EQ(crd.status, 201) << crd.body;
  EXPECT_EQ(condition(crd.body, "NamesAccepted"), "True NoConflicts");
  EXPECT_EQ(condition(crd.body, "Established"), "True InitialNamesAccepted");
  EXPECT_EQ(crd.body["status"]["storedVersions"], Json({"v1"}));
  EXPECT_EQ(crd.body["status"]["acceptedNames"]["listKind"], "WidgetList");

  const Answer made = create(kWidgets, widget("a", 1));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.body["spec"]["color"], "red") << "a default of the schema";
  EXPECT_EQ(made.body["metadata"]["generation"], 1);
  EXPECT_EQ(create(kWidgets, widget("b", 0)).status, 422);

  const auto stream = watch(kWidgets + "?watch=true");
  EXPECT_THAT(events(*stream), ElementsAre("ADDED a"));
  EXPECT_EQ(remove(kCrds + "/widgets.example.com").status, 200);
  work();
  EXPECT_EQ(get(kCrds + "/widgets.example.com").status, 404);
  EXPECT_EQ(get(kWidgets).status, 404);
  EXPECT_EQ(api_->registry().find("example.com", "v1", "widgets"), nullptr);

  create(kCrds, widget_crd());
  EXPECT_THAT(names(get(kWidgets).body), IsEmpty());
}

TEST_F(CrdTest, WhatIsOlderThanTheSchemaIsReadWithItsDefaults) {
  Json crd = widget_crd();
  Json& schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  const Json with_defaults = schema;
  schema = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  crd["spec"]["versions"][0].erase("selectableFields");
  ASSERT_EQ(create(kCrds, crd).status, 201);
  const Json made = create(kWidgets, widget("a", 1)).body;
  Json blue = widget("b", 1);
  blue["spec"]["color"] = "blue";
  ASSERT_EQ(create(kWidgets, blue).status, 201);
  EXPECT_FALSE(made["spec"].contains("color"));

  Json definition = get(kCrds + "/widgets.example.com").body;
  definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = with_defaults;
  ASSERT_EQ(update(kCrds + "/widgets.example.com", definition).status, 200);
  for (const char* when : {"at once", "after a start"}) {
    const Json read = get(kWidgets + "/a").body;
    EXPECT_EQ(read["spec"]["color"], "red") << when;
    EXPECT_EQ(read["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]) << when;
    EXPECT_EQ(get(kWidgets).body["items"][0]["spec"]["color"], "red") << when;
    EXPECT_EQ(get(kWidgets + "/b").body["spec"]["color"], "blue") << when;
    start();
  }
}

TEST_F(CrdTest, AKindGoesWithItsObjectsHoweverItWasWritten) {
  Json crd = create(kCrds, widget_crd()).body;
  create(kWidgets, widget("a", 1));
  crd["metadata"].erase("finalizers");
  EXPECT_EQ(update(kCrds + "/widgets.example.com", crd).status, 200);
  remove(kCrds + "/widgets.example.com");
  work();
  EXPECT_EQ(create(kCrds, widget_crd()).status, 201);
  EXPECT_THAT(names(get(kWidgets).body), IsEmpty());
}

TEST_F(CrdTest, KindsAreThereAfterARestart) {
  create(kCrds, widget_crd());
  create(kWidgets, widget("a", 1));
  const Json before = get(kWidgets).body;
  start();
  EXPECT_EQ(get(kWidgets).body, before);
}

TEST_F(CrdTest, StatusAndTheRestAreKeptApart) {
  create(kCrds, widget_crd());
  Json made = create(kWidgets,
                     [] {
                       Json object = widget("a", 1);
                       object["status"]["phase"] = "Fine";
                       return object;
                     }())
                  .body;
  EXPECT_FALSE(made.contains("status")) << "not by a create";
  made["status"]["phase"] = "Fine";
  made["spec"]["size"] = 2;
  const Answer main = update(kWidgets + "/a", made);
  EXPECT_EQ(main.body["spec"]["size"], 2);
  EXPECT_FALSE(main.body.contains("status"));
  EXPECT_EQ(main.body["metadata"]["generation"], 2);

  Json status = main.body;
  status["status"]["phase"] = "Fine";
  status["spec"]["size"] = 3;
  status["metadata"]["labels"]["x"] = "y";
  const Answer written = update(kWidgets + "/a/status", status);
  ASSERT_EQ(written.status, 200) << written.body;
  EXPECT_EQ(written.body["status"]["phase"], "Fine");
  EXPECT_EQ(written.body["spec"]["size"], 2);
  EXPECT_FALSE(written.body["metadata"].contains("labels"));
  EXPECT_EQ(written.body["metadata"]["generation"], 2) << "a status is no new generation";
  const Answer patched = patch(kWidgets + "/a/status", {{"status", {{"more", true}}}, {"spec", {{"size", 9}}}});
  EXPECT_EQ(patched.body["status"], Json({{"phase", "Fine"}, {"more", true}}));
  EXPECT_EQ(patched.body["spec"]["size"], 2);
  EXPECT_EQ(get(kWidgets + "/a/status").body, patched.body);
}

TEST_F(CrdTest, CustomKindsHaveTheirOwnRules) {
  create(kCrds, widget_crd());
  Json made = create(kWidgets, widget("a", 1)).body;
  EXPECT_EQ(patch(kWidgets + "/a", {{"spec", {{"size", 2}}}}, "strategic-merge-patch+json").status, 415);
  EXPECT_EQ(patch(kWidgets + "/a", {{"spec", {{"size", 2}}}}).body["spec"]["size"], 2);
  made["metadata"].erase("resourceVersion");
  EXPECT_EQ(update(kWidgets + "/a", made).status, 422) << "an update needs a version";
  EXPECT_THAT(names(get(kWidgets + "?fieldSelector=spec.color=red").body), ElementsAre("a"));
  EXPECT_THAT(names(get(kWidgets + "?fieldSelector=spec.color=blue").body), IsEmpty());
  EXPECT_EQ(get(kWidgets + "?fieldSelector=spec.size=2").status, 400);
}

TEST_F(CrdTest, UnknownFieldsAreDroppedAndTold) {
  create(kCrds, widget_crd());
  Json object = widget("a", 1);
  object["spec"]["nonsense"] = true;
  EXPECT_EQ(create(kWidgets + "?fieldValidation=Strict", object).status, 400);
  const Answer warned = create(kWidgets, object);
  EXPECT_EQ(warned.status, 201);
  EXPECT_EQ(warned.field("Warning"), "299 - \"unknown field \\\"spec.nonsense\\\"\"");
  EXPECT_FALSE(warned.body["spec"].contains("nonsense"));
}

TEST_F(CrdTest, AnObjectIsReadInEveryVersion) {
  Json crd = widget_crd();
  crd["spec"]["versions"].push_back(version_of("v2", false));
  create(kCrds, crd);
  create(kWidgets, widget("a", 1));
  const Json other = get("/apis/example.com/v2/namespaces/default/widgets/a").body;
  EXPECT_EQ(other["apiVersion"], "example.com/v2");
  EXPECT_EQ(other["spec"]["size"], 1);
  EXPECT_EQ(get("/apis/example.com/v2/widgets").body["items"][0]["apiVersion"], "example.com/v2");
}

TEST_F(CrdTest, NamesAreGivenOnceAndWaitedFor) {
  create(kCrds, widget_crd());
  Json rival = widget_crd("wodgets", "Widget");
  const Answer second = create(kCrds, rival);
  EXPECT_EQ(second.status, 201);
  EXPECT_EQ(condition(second.body, "NamesAccepted"), "False SingularConflict");
  EXPECT_EQ(condition(second.body, "Established"), "False NotAccepted");
  EXPECT_EQ(get("/apis/example.com/v1/wodgets").status, 404);
  remove(kCrds + "/widgets.example.com");
  work();
  EXPECT_EQ(condition(get(kCrds + "/wodgets.example.com").body, "Established"), "True InitialNamesAccepted");
  EXPECT_EQ(get("/apis/example.com/v1/wodgets").status, 200);
}

TEST_F(CrdTest, AChangedKindEndsItsWatches) {
  Json crd = create(kCrds, widget_crd()).body;
  const auto stream = watch(kWidgets + "?watch=true");
  std::string text;
  EXPECT_EQ(stream->next(text), WatchStream::Next::kNothingYet);
  const auto generation = api_->registry().generation();
  EXPECT_EQ(patch(kCrds + "/widgets.example.com", {{"metadata", {{"labels", {{"x", "y"}}}}}}).status, 200);
  EXPECT_EQ(api_->registry().generation(), generation) << "labels make no other kind";
  EXPECT_EQ(stream->next(text), WatchStream::Next::kNothingYet);
  crd = get(kCrds + "/widgets.example.com").body;
  crd["spec"]["names"]["shortNames"] = {"wd"};
  EXPECT_EQ(update(kCrds + "/widgets.example.com", crd).status, 200);
  EXPECT_EQ(stream->next(text), WatchStream::Next::kEnd);
  EXPECT_GT(api_->registry().generation(), generation);
}

TEST_F(CrdTest, AFaultyDefinitionIsRefused) {
  Json crd = widget_crd();
  crd["spec"]["versions"][0].erase("schema");
  EXPECT_EQ(create(kCrds, crd).status, 422);
  crd = widget_crd();
  crd["metadata"]["name"] = "other.example.com";
  EXPECT_EQ(create(kCrds, crd).status, 422);
}

TEST_F(CrdTest, EventsOfBothGroupsAreTheSame) {
  const std::string core = "/api/v1/namespaces/default/events";
  const std::string other = "/apis/events.k8s.io/v1/namespaces/default/events";
  create(core, {{"metadata", {{"name", "e"}}},
                {"involvedObject", {{"kind", "Pod"}, {"name", "p"}, {"namespace", "default"}}},
                {"reason", "Started"},
                {"message", "it runs"},
                {"type", "Normal"}});
  const Json view = get(other + "/e").body;
  EXPECT_EQ(view["apiVersion"], "events.k8s.io/v1");
  EXPECT_EQ(view["note"], "it runs");
  EXPECT_EQ(view["regarding"]["name"], "p");
  EXPECT_FALSE(view.contains("message"));
  EXPECT_THAT(names(get(other + "?fieldSelector=regarding.name=p").body), ElementsAre("e"));
  EXPECT_THAT(names(get(core + "?fieldSelector=involvedObject.name=q").body), IsEmpty());
  EXPECT_EQ(patch(other + "/e", {{"note", "it ran"}}).body["note"], "it ran");
  EXPECT_EQ(get(core + "/e").body["message"], "it ran");
}

TEST_F(CrdTest, ANamespaceGoesWithObjectsOfAKindThatIsNotServed) {
  create("/api/v1/namespaces", {{"metadata", {{"name", "team"}}}});
  const std::string theirs = "/apis/example.com/v1/namespaces/team/widgets";
  ASSERT_EQ(create(kCrds, widget_crd()).status, 201);
  ASSERT_EQ(create(theirs, widget("a", 1)).status, 201);
  ASSERT_EQ(create(kWidgets, widget("b", 1)).status, 201);
  const std::string kind = kCrds + "/widgets.example.com";
  const auto serve = [&](bool served) {
    return patch(kind, Json::array({{{"op", "replace"}, {"path", "/spec/versions/0/served"}, {"value", served}}}),
                 "json-patch+json")
        .status;
  };
  ASSERT_EQ(serve(false), 200);
  ASSERT_EQ(get(theirs).status, 404);
  EXPECT_EQ(remove("/api/v1/namespaces/team").status, 200);
  work();
  EXPECT_EQ(get("/api/v1/namespaces/team").status, 404);
  ASSERT_EQ(serve(true), 200);
  EXPECT_EQ(get(theirs + "/a").status, 404) << "it would come back in another namespace of that name";
  EXPECT_EQ(get(kWidgets + "/b").status, 200);
}

TEST_F(CrdTest, SecretsTakeTexts) {
  const Answer secret =
      create("/api/v1/namespaces/default/secrets", {{"metadata", {{"name", "s"}}}, {"stringData", {{"k", "v"}}}});
  EXPECT_EQ(secret.body["data"]["k"], "dg==");
  EXPECT_FALSE(secret.body.contains("stringData"));
}

}  // namespace
}  // namespace edge::resource_api
