// Deletion and what follows from it: finalizers, owners, namespaces.
#include <gmock/gmock.h>

#include "controller/resource_api/test_api.h"

namespace edge::resource_api {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GarbageTest : public ApiTest {
 protected:
  Json owned(const std::string& name, const Json& owner, bool blocks = true) {
    Json map = config_map(name);
    map["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "v1"},
                                                       {"kind", "ConfigMap"},
                                                       {"name", owner["metadata"]["name"]},
                                                       {"uid", owner["metadata"]["uid"]},
                                                       {"blockOwnerDeletion", blocks}}});
    return map;
  }
  std::vector<std::string> maps() { return names(get(kMaps).body); }
};

TEST_F(GarbageTest, AFinalizerHoldsTheObjectUntilItIsTakenOff) {
  Json map = config_map("a");
  map["metadata"]["finalizers"] = {"example.com/hold"};
  create(kMaps, map);
  const Answer marked = remove(kMaps + "/a");
  EXPECT_EQ(marked.status, 200);
  EXPECT_EQ(marked.body["kind"], "ConfigMap");
  EXPECT_EQ(marked.body["metadata"]["deletionTimestamp"], "2023-11-14T22:13:20Z");
  now_ += 60'000;
  EXPECT_EQ(remove(kMaps + "/a").body, marked.body) << "a second delete changes nothing";
  Json more = marked.body;
  more["metadata"]["finalizers"].push_back("example.com/late");
  EXPECT_EQ(update(kMaps + "/a", more).status, 422) << "none may be added now";
  Json back = marked.body;
  back["metadata"].erase("deletionTimestamp");
  back["data"]["k"] = "v";
  EXPECT_TRUE(update(kMaps + "/a", back).body["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(patch(kMaps + "/a", {{"metadata", {{"finalizers", nullptr}}}}).status, 200);
  EXPECT_EQ(get(kMaps + "/a").status, 404);
}

TEST_F(GarbageTest, PreconditionsMustHold) {
  const Json map = create(kMaps, config_map("a")).body;
  EXPECT_EQ(remove(kMaps + "/a", {{"preconditions", {{"uid", "other"}}}}).status, 409);
  EXPECT_EQ(remove(kMaps + "/a", {{"preconditions", {{"resourceVersion", "1"}}}}).status, 409);
  EXPECT_EQ(remove(kMaps + "/a",
                   {{"preconditions",
                     {{"uid", map["metadata"]["uid"]}, {"resourceVersion", map["metadata"]["resourceVersion"]}}}})
                .status,
            200);
  EXPECT_EQ(remove(kMaps + "/a").status, 404);
  EXPECT_EQ(remove(kMaps + "/a", {{"propagationPolicy", "Sideways"}}).status, 422);
}

TEST_F(GarbageTest, DependentsGoWithTheirOwner) {
  const Json owner = create(kMaps, config_map("owner")).body;
  const Json child = create(kMaps, owned("child", owner)).body;
  create(kMaps, owned("grandchild", child));
  remove(kMaps + "/owner");
  EXPECT_THAT(maps(), ElementsAre("child", "grandchild")) << "in the background";
  work();
  EXPECT_THAT(maps(), IsEmpty());
}

TEST_F(GarbageTest, ARestartForgetsNoGarbage) {
  const Json owner = create(kMaps, config_map("owner")).body;
  create(kMaps, owned("child", owner));
  remove(kMaps + "/owner");
  start();
  work();
  EXPECT_THAT(maps(), IsEmpty());
}

TEST_F(GarbageTest, AnAbsentOwnerIsNone) {
  Json ghost = config_map("ghost");
  ghost["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000";
  create(kMaps, owned("child", ghost));
  work();
  EXPECT_THAT(maps(), IsEmpty());
}

TEST_F(GarbageTest, AnOwnerInAnotherNamespaceIsNone) {
  const Json owner = create("/api/v1/namespaces/kube-system/configmaps", config_map("owner")).body;
  create(kMaps, owned("child", owner));
  work();
  EXPECT_THAT(maps(), IsEmpty());
}

TEST_F(GarbageTest, OneOfTwoOwnersIsEnough) {
  const Json first = create(kMaps, config_map("first")).body;
  const Json second = create(kMaps, config_map("second")).body;
  Json child = owned("child", first);
  child["metadata"]["ownerReferences"].push_back(owned("x", second)["metadata"]["ownerReferences"][0]);
  create(kMaps, child);
  remove(kMaps + "/first");
  work();
  EXPECT_THAT(maps(), ElementsAre("child", "second"));
  EXPECT_EQ(get(kMaps + "/child").body["metadata"]["ownerReferences"].size(), 1U);
}

TEST_F(GarbageTest, InForegroundTheOwnerWaitsForThoseThatBlock) {
  const Json owner = create(kMaps, config_map("owner")).body;
  Json child = owned("child", owner);
  child["metadata"]["finalizers"] = {"example.com/hold"};
  create(kMaps, child);
  const Answer marked = remove(kMaps + "/owner", {{"propagationPolicy", "Foreground"}});
  EXPECT_EQ(marked.body["metadata"]["finalizers"], Json({"foregroundDeletion"}));
  work();
  EXPECT_TRUE(get(kMaps + "/child").body["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(get(kMaps + "/owner").status, 200);
  patch(kMaps + "/child", {{"metadata", {{"finalizers", nullptr}}}});
  work();
  EXPECT_THAT(maps(), IsEmpty());
}

TEST_F(GarbageTest, OrphansAreLetGo) {
  const Json owner = create(kMaps, config_map("owner")).body;
  create(kMaps, owned("child", owner));
  EXPECT_EQ(remove(kMaps + "/owner?propagationPolicy=Orphan").status, 200);
  work();
  EXPECT_THAT(maps(), ElementsAre("child"));
  EXPECT_FALSE(get(kMaps + "/child").body["metadata"].contains("ownerReferences"));
}

TEST_F(GarbageTest, ACollectionIsDeletedBySelector) {
  for (const char* name : {"a", "b", "c"}) {
    Json map = config_map(name);
    if (*name != 'b') map["metadata"]["labels"]["go"] = "yes";
    create(kMaps, map);
  }
  const Answer gone = remove(kMaps + "?labelSelector=go=yes");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.body["kind"], "ConfigMapList");
  EXPECT_THAT(names(gone.body), ElementsAre("a", "c"));
  EXPECT_THAT(maps(), ElementsAre("b"));
}

TEST_F(GarbageTest, ANamespaceGoesWithItsContent) {
  create("/api/v1/namespaces", {{"metadata", {{"name", "team"}}}});
  const std::string inside = "/api/v1/namespaces/team/configmaps";
  for (int i = 0; i < 600; ++i) create(inside, config_map("a" + std::to_string(i)));
  Json held = config_map("held");
  held["metadata"]["finalizers"] = {"example.com/hold"};
  create(inside, held);
  const Answer marked = remove("/api/v1/namespaces/team");
  EXPECT_EQ(marked.body["status"]["phase"], "Terminating");
  const Answer late = create(inside, config_map("late"));
  EXPECT_EQ(late.status, 403);
  EXPECT_EQ(late.body["details"]["causes"][0]["reason"], "NamespaceTerminating");
  work();
  EXPECT_THAT(names(get(inside).body), ElementsAre("held"));
  EXPECT_EQ(get("/api/v1/namespaces/team").status, 200);
  patch(inside + "/held", {{"metadata", {{"finalizers", nullptr}}}});
  work();
  EXPECT_EQ(get("/api/v1/namespaces/team").status, 404);
  EXPECT_EQ(create("/api/v1/namespaces", {{"metadata", {{"name", "team"}}}}).status, 201);
}

TEST_F(GarbageTest, ANamespaceGoesWithItsContentHoweverItWasWritten) {
  create("/api/v1/namespaces", {{"metadata", {{"name", "team"}}}});
  const std::string inside = "/api/v1/namespaces/team/configmaps";
  create(inside, config_map("a"));
  const Answer replaced = update("/api/v1/namespaces/team", {{"metadata", {{"name", "team"}}}});
  EXPECT_EQ(replaced.status, 200);
  EXPECT_EQ(replaced.body["spec"]["finalizers"], Json({"kubernetes"}));
  remove("/api/v1/namespaces/team");
  work();
  create("/api/v1/namespaces", {{"metadata", {{"name", "team"}}}});
  EXPECT_THAT(names(get(inside).body), IsEmpty());
}

TEST_F(GarbageTest, AnOwnerOfAKindThatIsNotServedMayLive) {
  Json map = config_map("kept");
  map["metadata"]["ownerReferences"] =
      Json::array({{{"apiVersion", "example.com/v1"}, {"kind", "Certificate"}, {"name", "web"}, {"uid", "elsewhere"}}});
  create(kMaps, map);
  work();
  EXPECT_THAT(maps(), ElementsAre("kept"));
}

TEST_F(GarbageTest, ANamespaceIsNotFinalizedBeforeItIsDeleted) {
  create("/api/v1/namespaces", {{"metadata", {{"name", "team"}}}});
  Json space = get("/api/v1/namespaces/team").body;
  EXPECT_EQ(space["spec"]["finalizers"], Json({"kubernetes"}));
  space["spec"]["finalizers"] = Json::array();
  space["metadata"]["labels"]["x"] = "y";
  const Answer finalized = update("/api/v1/namespaces/team/finalize", space);
  EXPECT_EQ(finalized.status, 200);
  EXPECT_FALSE(finalized.body["metadata"]["labels"].contains("x")) << "finalizers alone";
  EXPECT_EQ(get("/api/v1/namespaces/team").status, 200);
}

TEST_F(GarbageTest, EventsAreNewsForAnHour) {
  const std::string events = "/api/v1/namespaces/default/events";
  const auto event = [](const std::string& name) {
    return Json{{"metadata", {{"name", name}}}, {"involvedObject", {{"namespace", "default"}}}, {"count", 1}};
  };
  for (int i = 0; i < 300; ++i) ASSERT_EQ(create(events, event("old" + std::to_string(i))).status, 201);
  create(events, event("again"));
  now_ += 3'000'000;
  EXPECT_EQ(patch(events + "/again", {{"count", 2}}).status, 200);
  now_ += 599'000;
  work();
  EXPECT_EQ(get(events).body["items"].size(), 301U);
  for (int look = 0; look < 4; ++look) {
    now_ += 5'000;
    work();
  }
  EXPECT_THAT(names(get(events).body), ElementsAre("again"));
}

TEST_F(GarbageTest, NamespacesOfTheSystemStay) {
  EXPECT_EQ(remove("/api/v1/namespaces/default").status, 403);
  EXPECT_EQ(remove("/api/v1/namespaces/kube-system").status, 403);
}

}  // namespace
}  // namespace edge::resource_api
