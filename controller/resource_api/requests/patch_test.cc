// Patches and applies as they arrive; the algorithms have tests of their own (objects/).
#include <gmock/gmock.h>

#include "controller/resource_api/test_api.h"

namespace edge::resource_api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kRoutes = "/apis/edgeproxy.io/v1alpha1/namespaces/default/proxyroutes";
const std::string kServices = "/api/v1/namespaces/default/services";

class PatchTest : public ApiTest {
 protected:
  Answer apply(const std::string& target, const Json& intent) { return patch(target, intent, "apply-patch+yaml"); }
  static Json intent(const Json& data) {
    return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}, {"data", data}};
  }
  /// `manager operation` of each entry.
  static std::vector<std::string> managers(const Json& object) {
    std::vector<std::string> all;
    for (const Json& entry : object["metadata"].value("managedFields", Json::array())) {
      all.push_back(entry["manager"].get<std::string>() + " " + entry["operation"].get<std::string>());
    }
    return all;
  }
};

TEST_F(PatchTest, JsonPatchesAreAppliedInOrder) {
  create(kMaps, config_map("a", {{"k", "v"}}));
  const Json operations = {{{"op", "test"}, {"path", "/data/k"}, {"value", "v"}},
                           {{"op", "replace"}, {"path", "/data/k"}, {"value", "w"}},
                           {{"op", "add"}, {"path", "/data/l"}, {"value", "x"}}};
  const Answer patched = patch(kMaps + "/a", operations, "json-patch+json");
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.body["data"], Json({{"k", "w"}, {"l", "x"}}));
  EXPECT_EQ(patch(kMaps + "/a", operations, "json-patch+json").status, 422) << "the test does not hold any more";
  EXPECT_EQ(patch(kMaps + "/a", 3, "json-patch+json").status, 400);
}

TEST_F(PatchTest, APatchCannotChangeWhoTheObjectIs) {
  create(kMaps, config_map("a"));
  EXPECT_EQ(patch(kMaps + "/a", {{"metadata", {{"name", "b"}}}}).status, 400);
  EXPECT_EQ(patch(kMaps + "/a", {{"kind", "Secret"}}).status, 400);
  EXPECT_EQ(patch(kMaps + "/a", {{"metadata", {{"uid", "00000000-0000-4000-8000-000000000000"}}}}).status, 409);
  EXPECT_EQ(patch(kMaps + "/a", {{"metadata", {{"creationTimestamp", "2020-01-01T00:00:00Z"}}}}).status, 422);
  EXPECT_EQ(patch(kMaps + "/a", {{"metadata", {{"resourceVersion", "1"}}}}).status, 409);
  EXPECT_EQ(patch(kMaps + "/absent", {{"data", {{"k", "v"}}}}).status, 404);
  EXPECT_EQ(ask(request("PATCH", kMaps + "/a", "{}", "application/json")).status, 415);
  EXPECT_EQ(ask(request("PATCH", kMaps + "/a", "{", "application/merge-patch+json")).status, 400);
}

TEST_F(PatchTest, NothingGrowsWithoutEnd) {
  create(kMaps, config_map("a", {{"k", "v"}}));
  Json wrap = Json::array();
  for (int i = 0; i < 200; ++i) {
    wrap.push_back({{"op", "add"}, {"path", "/b"}, {"value", Json::object()}});
    wrap.push_back({{"op", "move"}, {"from", "/data"}, {"path", "/b/c"}});
    wrap.push_back({{"op", "move"}, {"from", "/b"}, {"path", "/data"}});
  }
  const Answer wrapped = patch(kMaps + "/a?fieldValidation=Ignore", wrap, "json-patch+json");
  EXPECT_EQ(wrapped.status, 422) << wrapped.body;

  std::string bomb = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: &x \"";
  bomb.append(100'000, 'x').append("\"\n  l: [");
  for (int i = 0; i < 1000; ++i) bomb += "*x, ";
  bomb += "*x]\n";
  EXPECT_EQ(ask(request("PATCH", kMaps + "/a?fieldManager=m", bomb, "application/apply-patch+yaml")).status, 413);
  EXPECT_EQ(
      create("/api/v1/namespaces/default/pods",
             {{"metadata", {{"name", "b"}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}, {"args", {std::string(1'600'000, 'x')}}}}}}}})
          .status,
      413);
  EXPECT_EQ(create(kMaps, config_map("b", {{"k", std::string(3 << 20, 'x')}})).status, 413);
}

TEST_F(PatchTest, StrategicPatchesMergeListsByKey) {
  const Json service = {{"metadata", {{"name", "s"}}},
                        {"spec", {{"ports", {{{"name", "a"}, {"port", 80}}, {{"name", "b"}, {"port", 81}}}}}}};
  ASSERT_EQ(create(kServices, service).status, 201);
  const Answer patched = patch(kServices + "/s", {{"spec", {{"ports", {{{"port", 81}, {"targetPort", 9000}}}}}}},
                               "strategic-merge-patch+json");
  ASSERT_EQ(patched.status, 200) << patched.body;
  ASSERT_EQ(patched.body["spec"]["ports"].size(), 2U);
  const Json& second = patched.body["spec"]["ports"][0]["port"] == 81 ? patched.body["spec"]["ports"][0]
                                                                      : patched.body["spec"]["ports"][1];
  EXPECT_EQ(second["targetPort"], 9000);
  EXPECT_EQ(second["name"], "b");
}

TEST_F(PatchTest, AnApplyCreatesAndThenChanges) {
  EXPECT_EQ(apply(kMaps + "/a", intent({{"k", "v"}})).status, 422) << "needs a manager";
  const Answer made = apply(kMaps + "/a?fieldManager=one", intent({{"k", "v"}}));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(managers(made.body), ElementsAre("one Apply"));
  now_ += 60'000;
  const Answer same = apply(kMaps + "/a?fieldManager=one", intent({{"k", "v"}}));
  EXPECT_EQ(same.status, 200);
  EXPECT_EQ(same.body, made.body) << "nothing is written";
  const Answer changed = apply(kMaps + "/a?fieldManager=one", intent({{"l", "w"}}));
  EXPECT_EQ(changed.body["data"], Json({{"l", "w"}})) << "what is no longer applied goes";
}

TEST_F(PatchTest, AnothersFieldIsAConflictUnlessForced) {
  apply(kMaps + "/a?fieldManager=one", intent({{"k", "v"}}));
  const Answer conflict = apply(kMaps + "/a?fieldManager=two", intent({{"k", "w"}}));
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.body["details"]["causes"][0]["reason"], "FieldManagerConflict");
  EXPECT_THAT(conflict.body["message"].get<std::string>(), HasSubstr("conflict with \"one\""));
  const Answer forced = apply(kMaps + "/a?fieldManager=two&force=true", intent({{"k", "w"}}));
  EXPECT_EQ(forced.body["data"]["k"], "w");
  EXPECT_EQ(patch(kMaps + "/a?force=true", {{"data", {{"k", "x"}}}}).status, 422) << "only applies are forced";
}

TEST_F(PatchTest, EveryWriteIsTracked) {
  const Answer made = create(kMaps, config_map("a", {{"k", "v"}}));
  EXPECT_THAT(managers(made.body), ElementsAre("kubectl Update")) << "from the user agent";
  const Answer changed = patch(kMaps + "/a?fieldManager=other", {{"data", {{"l", "w"}}}});
  EXPECT_THAT(managers(changed.body), ElementsAre("kubectl Update", "other Update"));
  EXPECT_EQ(patch(kMaps + "/a?fieldManager=a\tb", {{"data", {{"l", "w"}}}}).status, 422);
}

TEST_F(PatchTest, AnApplyOfYamlAndOfStatusIsIsolated) {
  ApiRequest asked = request("PATCH", kRoutes + "/r?fieldManager=one",
                             "apiVersion: edgeproxy.io/v1alpha1\n"
                             "kind: ProxyRoute\n"
                             "metadata:\n"
                             "  name: r\n"
                             "spec:\n"
                             "  parentRefs: [{name: gateway}]\n"
                             "  hostnames: [a.example.com]\n"
                             "  rules:\n"
                             "  - backends:\n"
                             "    - name: b\n"
                             "status:\n"
                             "  conditions: []\n",
                             "application/apply-patch+yaml");
  const Answer made = ask(asked);
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_FALSE(made.body.contains("status"));
  EXPECT_EQ(made.body["spec"]["hostnames"][0], "a.example.com");
  const Json status = {{"apiVersion", "edgeproxy.io/v1alpha1"},
                       {"kind", "ProxyRoute"},
                       {"metadata", {{"name", "r"}}},
                       {"spec", {{"hostnames", {"other.example.com"}}}},
                       {"status",
                        {{"conditions",
                          {{{"type", "Ready"},
                            {"status", "True"},
                            {"reason", "Programmed"},
                            {"message", ""},
                            {"lastTransitionTime", "2024-01-01T00:00:00Z"}}}}}}};
  const Answer written = apply(kRoutes + "/r/status?fieldManager=controller", status);
  ASSERT_EQ(written.status, 200) << written.body;
  EXPECT_EQ(written.body["status"]["conditions"][0]["type"], "Ready");
  EXPECT_EQ(written.body["spec"]["hostnames"][0], "a.example.com");
  EXPECT_EQ(written.body["metadata"]["generation"], 1);
  const Answer again = ask(asked);
  EXPECT_EQ(again.body["status"]["conditions"][0]["type"], "Ready") << "an apply of the rest keeps the status";
  EXPECT_EQ(apply(kRoutes + "/absent/status?fieldManager=controller", status).status, 400);
  Json other = status;
  other["metadata"]["name"] = "absent";
  EXPECT_EQ(apply(kRoutes + "/absent/status?fieldManager=controller", other).status, 404);
}

TEST_F(PatchTest, AYamlDefinitionIsADefinition) {
  const Answer made =
      ask(request("PATCH", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ws.example.com?fieldManager=m",
                  "apiVersion: apiextensions.k8s.io/v1\n"
                  "kind: CustomResourceDefinition\n"
                  "metadata: {name: ws.example.com}\n"
                  "spec:\n"
                  "  group: example.com\n"
                  "  names: {plural: ws, kind: W}\n"
                  "  scope: Cluster\n"
                  "  versions:\n"
                  "  - name: v1\n"
                  "    served: true\n"
                  "    storage: true\n"
                  "    schema:\n"
                  "      openAPIV3Schema:\n"
                  "        type: object\n"
                  "        properties:\n"
                  "          spec: {type: string, maxLength: 3}\n",
                  "application/apply-patch+yaml"));
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(create("/apis/example.com/v1/ws", {{"metadata", {{"name", "a"}}}, {"spec", "long"}}).status, 422);
  EXPECT_EQ(create("/apis/example.com/v1/ws", {{"metadata", {{"name", "a"}}}, {"spec", "fit"}}).status, 201);
}

TEST_F(PatchTest, ListsComeAsTables) {
  create(kMaps, config_map("a", {{"k", "v"}}));
  ApiRequest asked = request("GET", kMaps);
  asked.accept =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
  const Answer table = ask(asked);
  EXPECT_EQ(table.body["kind"], "Table");
  EXPECT_EQ(table.body["apiVersion"], "meta.k8s.io/v1");
  EXPECT_EQ(table.body["columnDefinitions"][0]["name"], "Name");
  EXPECT_EQ(table.body["rows"][0]["cells"][0], "a");
  EXPECT_EQ(table.body["rows"][0]["object"]["kind"], "PartialObjectMetadata");
  asked.query = {{"includeObject", "None"}};
  EXPECT_FALSE(ask(asked).body["rows"][0].contains("object"));
  asked.path += "/a";
  EXPECT_EQ(ask(asked).body["rows"].size(), 1U);
  asked.path = kMaps;
  asked.accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json";
  const Answer metadata = ask(asked);
  EXPECT_EQ(metadata.body["kind"], "PartialObjectMetadataList");
  EXPECT_FALSE(metadata.body["items"][0].contains("data"));
}

}  // namespace
}  // namespace edge::resource_api
