// Verbs, one by one, on the Api itself.
#include <gmock/gmock.h>

#include "controller/resource_api/registry.h"
#include "controller/resource_api/test_api.h"

namespace edge::resource_api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(ApiTest, WhoWritesARoleIsToldThatItDoesNotHold) {
  const Json role = {{"apiVersion", "rbac.authorization.k8s.io/v1"},
                     {"kind", "ClusterRole"},
                     {"metadata", {{"name", "reader"}}},
                     {"rules", Json::array()}};
  const Answer made = create("/apis/rbac.authorization.k8s.io/v1/clusterroles", role);
  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(made.field("Warning"), testing::StartsWith("299 - \"roles are kept and not obeyed"));
  EXPECT_EQ(create(kMaps, config_map("plain", {})).field("Warning"), "");
}

TEST_F(ApiTest, TheFirstStartBringsNamespacesAndOurKinds) {
  EXPECT_THAT(names(get("/api/v1/namespaces").body), ElementsAre("default", "edge-system", "kube-system"));
  EXPECT_NE(api_->registry().find("edgeproxy.io", "v1alpha1", "proxyroutes"), nullptr);
  EXPECT_THAT(get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions").body["items"], SizeIs(11));
  const auto version = api_->resource_version();
  start();
  EXPECT_EQ(api_->resource_version(), version) << "a second start writes nothing";
}

TEST_F(ApiTest, AnObjectIsCreatedReadListedUpdatedAndDeleted) {
  const Answer created = create(kMaps, config_map("a", {{"k", "v"}}));
  ASSERT_EQ(created.status, 201) << created.body;
  EXPECT_EQ(created.body["metadata"]["namespace"], "default");
  EXPECT_EQ(created.body["metadata"]["creationTimestamp"], "2023-11-14T22:13:20Z");
  EXPECT_THAT(created.body["metadata"]["uid"].get<std::string>(), SizeIs(36));
  EXPECT_EQ(get(kMaps + "/a").body, created.body);
  EXPECT_EQ(get(kMaps).body["items"][0], created.body);
  EXPECT_EQ(get(kMaps).body["kind"], "ConfigMapList");

  Json changed = created.body;
  changed["data"]["k"] = "w";
  const Answer updated = update(kMaps + "/a", changed);
  ASSERT_EQ(updated.status, 200) << updated.body;
  EXPECT_NE(updated.body["metadata"]["resourceVersion"], created.body["metadata"]["resourceVersion"]);
  EXPECT_EQ(updated.body["metadata"]["uid"], created.body["metadata"]["uid"]);

  const Answer gone = remove(kMaps + "/a");
  EXPECT_EQ(gone.status, 200);
  EXPECT_EQ(gone.body["status"], "Success");
  EXPECT_EQ(get(kMaps + "/a").status, 404);
}

TEST_F(ApiTest, EverythingIsThereAfterARestart) {
  create(kMaps, config_map("a", {{"k", "v"}}));
  const Json before = get(kMaps + "/a").body;
  const auto version = api_->resource_version();
  start();
  EXPECT_EQ(get(kMaps + "/a").body, before);
  EXPECT_EQ(api_->resource_version(), version);
}

TEST_F(ApiTest, AVersionIsNeverGivenTwiceEvenWhenTheLastObjectWentBeforeARestart) {
  create(kMaps, config_map("a"));
  remove(kMaps + "/a");
  const auto version = api_->resource_version();
  start();
  EXPECT_EQ(api_->resource_version(), version);
}

TEST_F(ApiTest, ANameIsTakenOnce) {
  create(kMaps, config_map("a"));
  const Answer again = create(kMaps, config_map("a"));
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.body["reason"], "AlreadyExists");
  EXPECT_EQ(again.body["message"], "configmaps \"a\" already exists");
}

TEST_F(ApiTest, AnUpdateFromAnOldVersionIsAConflict) {
  const Json first = create(kMaps, config_map("a")).body;
  Json second = first;
  second["data"]["k"] = "1";
  ASSERT_EQ(update(kMaps + "/a", second).status, 200);
  second["data"]["k"] = "2";
  const Answer stale = update(kMaps + "/a", second);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.body["reason"], "Conflict");
  second["metadata"].erase("resourceVersion");
  EXPECT_EQ(update(kMaps + "/a", second).status, 200) << "built-in kinds may be written without one";
  second["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000";
  EXPECT_EQ(update(kMaps + "/a", second).status, 409);
}

TEST_F(ApiTest, AConditionOfAnotherTypeIsNotPassedOver) {
  const Json map = create(kMaps, config_map("a")).body;
  for (const char* field : {"resourceVersion", "uid"}) {
    Json numeric = map;
    numeric["metadata"][field] = 1;
    const Answer refused = update(kMaps + "/a", numeric);
    EXPECT_EQ(refused.status, 400) << field;
    EXPECT_THAT(refused.body["message"].get<std::string>(), HasSubstr(field));
  }
}

TEST_F(ApiTest, AWriteOfNothingChangesNothing) {
  const Json first = create(kMaps, config_map("a", {{"k", "v"}})).body;
  now_ += 60'000;
  const Answer same = update(kMaps + "/a", first);
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.body, first);
  EXPECT_EQ(patch(kMaps + "/a", {{"data", {{"k", "v"}}}}).body, first);
}

TEST_F(ApiTest, ADryRunAnswersAndChangesNothing) {
  const auto version = api_->resource_version();
  EXPECT_EQ(create(kMaps + "?dryRun=All", config_map("a")).status, 201);
  EXPECT_EQ(get(kMaps + "/a").status, 404);
  create(kMaps, config_map("a"));
  EXPECT_EQ(patch(kMaps + "/a?dryRun=All", {{"data", {{"k", "v"}}}}).body["data"]["k"], "v");
  EXPECT_FALSE(get(kMaps + "/a").body.value("data", Json::object()).contains("k"));
  EXPECT_EQ(remove(kMaps + "/a?dryRun=All").status, 200);
  EXPECT_EQ(get(kMaps + "/a").status, 200);
  EXPECT_EQ(api_->resource_version(), version + 1);
  EXPECT_EQ(create(kMaps + "?dryRun=Some", config_map("b")).status, 422);
}

TEST_F(ApiTest, GenerateNameGrowsIntoNames) {
  Json map = config_map("");
  map["metadata"] = {{"generateName", "map-"}};
  const std::string first = create(kMaps, map).body["metadata"]["name"];
  const std::string second = create(kMaps, map).body["metadata"]["name"];
  EXPECT_THAT(first, testing::StartsWith("map-"));
  EXPECT_THAT(first, SizeIs(9));
  EXPECT_NE(first, second);
}

TEST_F(ApiTest, ANamespaceMustBeThere) {
  const Answer answer = create("/api/v1/namespaces/absent/configmaps", config_map("a"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body["message"], "namespaces \"absent\" not found");
  EXPECT_EQ(get("/api/v1/namespaces/absent/configmaps").status, 200) << "a list of nothing";
}

TEST_F(ApiTest, WhatIsNoRequestIsToldAStatus) {
  EXPECT_EQ(get("/").status, 404);
  EXPECT_EQ(get("/api/v1/nothing").status, 404);
  EXPECT_EQ(get("/api/v1//configmaps").status, 404);
  EXPECT_EQ(get("/api/v1/namespaces/default/namespaces/default").status, 404);
  EXPECT_EQ(get("/api/v1/configmaps/a").status, 404);
  EXPECT_EQ(get(kMaps + "/a/status").status, 404) << "has no such subresource";
  EXPECT_EQ(ask(request("POST", "/api/v1/configmaps", "{}")).status, 405);
  EXPECT_EQ(ask(request("PUT", kMaps, "{}")).status, 405);
  EXPECT_EQ(ask(request("POST", kMaps, "{")).status, 400);
  EXPECT_EQ(ask(request("POST", kMaps, "[]")).status, 400);
  EXPECT_EQ(ask(request("POST", kMaps, R"({"metadata":3})")).status, 400);
  EXPECT_EQ(ask(request("POST", kMaps, R"({"metadata":{"name":3}})")).status, 422);
  EXPECT_EQ(ask(request("POST", kMaps, R"({"kind":"Pod","metadata":{"name":"a"}})")).status, 400);
  EXPECT_EQ(ask(request("POST", kMaps, R"({"apiVersion":"v2","metadata":{"name":"a"}})")).status, 400);
  EXPECT_EQ(ask(request("POST", kMaps, R"({"metadata":{"name":"a","namespace":"b"}})")).status, 400);
  EXPECT_EQ(ask(request("POST", kMaps, "\x0a\x02v1", "application/vnd.kubernetes.protobuf")).status, 415);
  EXPECT_EQ(get(kMaps + "?labelSelector=a in").status, 400);
  EXPECT_EQ(get(kMaps + "?fieldSelector=data.k=v").status, 400);
  EXPECT_EQ(get(kMaps + "?limit=x").status, 400);
  EXPECT_EQ(get(kMaps + "?continue=x").status, 400);
  ApiRequest other = request("GET", kMaps);
  other.accept = "application/vnd.kubernetes.protobuf";
  EXPECT_EQ(ask(other).status, 406);
  other.accept = "application/vnd.kubernetes.protobuf,application/json";
  EXPECT_EQ(ask(other).status, 200);
  for (const auto& entry : {get("/"), get(kMaps + "?limit=x")}) {
    EXPECT_EQ(entry.body["kind"], "Status");
    EXPECT_EQ(entry.body["code"], entry.status);
  }
}

TEST_F(ApiTest, AListIsPagedAsItWasWhenItBegan) {
  for (const char* name : {"a", "b", "c", "d", "e"}) create(kMaps, config_map(name));
  const Json first = get(kMaps + "?limit=2").body;
  EXPECT_THAT(names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first["metadata"]["remainingItemCount"], 3);
  // What changes meanwhile is not seen: not what comes, not what goes, not what is changed.
  remove(kMaps + "/c");
  create(kMaps, config_map("cc"));
  patch(kMaps + "/d", {{"data", {{"k", "new"}}}});
  const std::string token = first["metadata"]["continue"];
  const Json second = get(kMaps + "?limit=2&continue=" + token).body;
  EXPECT_THAT(names(second), ElementsAre("c", "d"));
  EXPECT_FALSE(second["items"][1].value("data", Json::object()).contains("k"));
  EXPECT_EQ(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
  const Json third = get(kMaps + "?limit=2&continue=" + second["metadata"]["continue"].get<std::string>()).body;
  EXPECT_THAT(names(third), ElementsAre("e"));
  EXPECT_FALSE(third["metadata"].contains("continue"));
  EXPECT_THAT(names(get(kMaps).body), ElementsAre("a", "b", "cc", "d", "e"));
}

TEST_F(ApiTest, AListContinuesAfterARestart) {
  for (const char* name : {"a", "b", "c"}) create(kMaps, config_map(name));
  const Json first = get(kMaps + "?limit=1").body;
  remove(kMaps + "/b");
  start();
  const Json rest = get(kMaps + "?continue=" + first["metadata"]["continue"].get<std::string>()).body;
  EXPECT_THAT(names(rest), ElementsAre("b", "c"));
}

TEST_F(ApiTest, AListThatBeganTooLongAgoSaysHowToGoOn) {
  options_.limits.history_events = 4;
  start();
  for (const char* name : {"a", "b", "c"}) create(kMaps, config_map(name));
  const std::string token = get(kMaps + "?limit=1").body["metadata"]["continue"];
  for (int i = 0; i < 8; ++i) patch(kMaps + "/a", {{"data", {{"k", std::to_string(i)}}}});
  const Answer expired = get(kMaps + "?continue=" + token);
  EXPECT_EQ(expired.status, 410);
  EXPECT_EQ(expired.body["reason"], "Expired");
  const std::string fresh = expired.body["metadata"]["continue"];
  EXPECT_THAT(names(get(kMaps + "?continue=" + fresh).body), ElementsAre("b", "c"));
}

TEST_F(ApiTest, VersionsOfAListMeanWhatTheyMeanInKubernetes) {
  const std::string first = create(kMaps, config_map("a")).body["metadata"]["resourceVersion"];
  create(kMaps, config_map("b"));
  EXPECT_THAT(names(get(kMaps + "?resourceVersion=0").body), ElementsAre("a", "b"));
  EXPECT_THAT(names(get(kMaps + "?resourceVersion=" + first).body), ElementsAre("a", "b")) << "not older than";
  EXPECT_THAT(names(get(kMaps + "?resourceVersion=" + first + "&resourceVersionMatch=Exact").body), ElementsAre("a"));
  EXPECT_THAT(names(get(kMaps + "?limit=9&resourceVersion=" + first).body), ElementsAre("a"));
  const Answer future = get(kMaps + "?resourceVersion=999999");
  EXPECT_EQ(future.status, 504);
  EXPECT_EQ(future.body["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
  EXPECT_EQ(future.field("Retry-After"), "1");
  EXPECT_EQ(get(kMaps + "?resourceVersionMatch=Exact").status, 422);
  EXPECT_EQ(get(kMaps + "/a?resourceVersion=999999").status, 504);
}

TEST_F(ApiTest, SelectorsChooseByLabelsAndFields) {
  const auto labelled = [&](const std::string& name, const Json& labels) {
    Json map = config_map(name);
    map["metadata"]["labels"] = labels;
    ASSERT_EQ(create(kMaps, map).status, 201);
  };
  labelled("a", {{"app", "x"}, {"tier", "1"}});
  labelled("b", {{"app", "y"}, {"tier", "2"}});
  labelled("c", Json::object());
  const auto selected = [&](const std::string& labels) { return names(get(kMaps + "?labelSelector=" + labels).body); };
  EXPECT_THAT(selected("app=x"), ElementsAre("a"));
  EXPECT_THAT(selected("app==x,tier=1"), ElementsAre("a"));
  EXPECT_THAT(selected("app!=x"), ElementsAre("b", "c"));
  EXPECT_THAT(selected("app in (x, y)"), ElementsAre("a", "b"));
  EXPECT_THAT(selected("app notin (x)"), ElementsAre("b", "c"));
  EXPECT_THAT(selected("app"), ElementsAre("a", "b"));
  EXPECT_THAT(selected("!app"), ElementsAre("c"));
  EXPECT_THAT(selected("tier>1"), ElementsAre("b"));
  EXPECT_THAT(selected(""), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names(get(kMaps + "?fieldSelector=metadata.name=b").body), ElementsAre("b"));
  EXPECT_THAT(names(get(kMaps + "?fieldSelector=metadata.name!=b").body), ElementsAre("a", "c"));
  EXPECT_THAT(names(get("/api/v1/configmaps?fieldSelector=metadata.namespace=other").body), ElementsAre());
}

TEST_F(ApiTest, AFieldThatIsAbsentHasTheValueOfItsType) {
  const auto node = [](const char* name, const Json& spec) {
    return Json{{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}, {"spec", spec}};
  };
  ASSERT_EQ(create("/api/v1/nodes", node("open", Json::object())).status, 201);
  ASSERT_EQ(create("/api/v1/nodes", node("closed", {{"unschedulable", true}})).status, 201);
  const auto chosen = [&](const std::string& field) {
    return names(get("/api/v1/nodes?fieldSelector=spec.unschedulable" + field).body);
  };
  EXPECT_THAT(chosen("=false"), ElementsAre("open"));
  EXPECT_THAT(chosen("=true"), ElementsAre("closed"));
  EXPECT_THAT(chosen("!=false"), ElementsAre("closed"));
  EXPECT_THAT(chosen("="), ElementsAre());
}

TEST_F(ApiTest, AnUpdateMakesSomeKindsAndNoOthers) {
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                {"kind", "Lease"},
                {"metadata", {{"name", "leader"}}},
                {"spec", {{"holderIdentity", "a"}}}};
  const auto made = update(leases + "/leader", lease);
  EXPECT_EQ(made.status, 201);
  EXPECT_FALSE(made.body["metadata"].value("uid", "").empty());
  EXPECT_EQ(update(leases + "/leader", lease).status, 200);
  EXPECT_EQ(update(leases + "/other", lease).status, 400) << "its name is another";
  // One that was read, and is gone.
  lease["metadata"]["uid"] = made.body["metadata"]["uid"];
  ASSERT_EQ(remove(leases + "/leader").status, 200);
  EXPECT_EQ(update(leases + "/leader", lease).status, 404);
  EXPECT_EQ(update("/apis/coordination.k8s.io/v1/namespaces/none/leases/leader",
                   {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}, {"metadata", {{"name", "leader"}}}})
                .status,
            404)
      << "its namespace is not there";
  const std::string endpoints = "/api/v1/namespaces/default/endpoints/web";
  const Json empty = {{"apiVersion", "v1"}, {"kind", "Endpoints"}, {"metadata", {{"name", "web"}}}};
  EXPECT_EQ(update(endpoints + "?dryRun=All", empty).status, 201);
  EXPECT_EQ(get(endpoints).status, 404);
  EXPECT_EQ(update(endpoints, empty).status, 201);
  EXPECT_EQ(update(kMaps + "/m", config_map("m")).status, 404);
}

TEST_F(ApiTest, UnknownFieldsAreToldAsTheRequestWants) {
  const std::string routes = "/apis/edgeproxy.io/v1alpha1/namespaces/default/proxybackends";
  const Json backend = {{"metadata", {{"name", "a"}}}, {"spec", {{"nonsense", 1}}}};
  const Answer strict = create(routes + "?fieldValidation=Strict", backend);
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(strict.body["message"].get<std::string>(), HasSubstr("unknown field \"spec.nonsense\""));
  const ApiReply reply = api_->handle(request("POST", routes + "?fieldValidation=Ignore", backend.dump()));
  EXPECT_THAT(reply.fields, SizeIs(0));
}

TEST_F(ApiTest, ABatchIsOneTransactionAndSeesItself) {
  const std::vector<ApiRequest> batch = {request("POST", kMaps, config_map("a").dump()), request("GET", kMaps + "/a"),
                                         request("DELETE", kMaps + "/a"), request("GET", kMaps + "/a")};
  const auto replies = api_->handle_all(batch);
  EXPECT_EQ(replies[0].status, 201);
  EXPECT_EQ(replies[1].status, 200);
  EXPECT_EQ(replies[2].status, 200);
  EXPECT_EQ(replies[3].status, 404);
}

TEST_F(ApiTest, ASecondProcessIsRefused) {
  const auto second = Api::open(options_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kAborted);
  EXPECT_THAT(second.error().text, HasSubstr("another process"));
}

}  // namespace
}  // namespace edge::resource_api
