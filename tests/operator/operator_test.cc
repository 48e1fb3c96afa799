// The operator against the embedded API.
#include <map>

#include "tests/operator/small_cluster.h"

namespace edge::test {
namespace {

using testing::HasSubstr;

constexpr const char* kMadeKinds[] = {"ServiceAccount", "Role",    "RoleBinding", "ClusterRole", "ClusterRoleBinding",
                                      "Secret",         "Service", "Deployment",  "DaemonSet"};

kube::Resource definitions() {
  return {.group = "apiextensions.k8s.io",
          .version = "v1",
          .plural = "customresourcedefinitions",
          .kind = "CustomResourceDefinition",
          .namespaced = false};
}
constexpr const char* kSites = "sites." EDGE_API_GROUP;

class OperatorTest : public SmallCluster {
 protected:
  std::map<std::string, std::string> versions() {
    std::map<std::string, std::string> found;
    for (const char* kind : kMadeKinds) {
      for (const json& object : all(kind)) {
        const json& metadata = object["metadata"];
        found[std::string(kind) + "/" + metadata["name"].get<std::string>()] = metadata["resourceVersion"];
      }
    }
    found["EdgeCluster"] = get("EdgeCluster", "main")["metadata"]["resourceVersion"];
    return found;
  }
  /// As if an operator of `version` had written it.
  void change_definition(const char* name, const std::string& version) {
    const json change = {{"metadata", {{"annotations", {{std::string(EDGE_API_GROUP "/version"), version}}}}}};
    const auto reply =
        api_->patch(definitions(), "", name, kube::PatchType::kMerge, change.dump(), {.field_manager = "test"});
    EXPECT_TRUE(reply.ok()) << reply.failure.text();
  }
  std::string definition_version(const char* name) {
    const json object = parse_json(api_->get(definitions(), "", name).object.text);
    return text_in(member_in(member_in(object, "metadata"), "annotations"), EDGE_API_GROUP "/version");
  }
  std::set<std::string> images() {
    std::set<std::string> found;
    for (const json& pod : all("Pod")) found.insert(pod["spec"]["containers"][0]["image"].get<std::string>());
    return found;
  }
};

TEST_F(OperatorTest, InstallsWhatTheResourceSays) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << get("EdgeCluster", "main").dump(1) << log_.text();
  const json status = get("EdgeCluster", "main")["status"];
  EXPECT_EQ(status["version"], "0.1.0");
  EXPECT_EQ(status["agents"]["summary"], "3/3");
  EXPECT_EQ(status["controller"]["summary"], "1/1");
  EXPECT_EQ(condition("Ready")["status"], "True");
  EXPECT_EQ(get("ClusterRoleBinding", "edge:edge-system:main")["subjects"][0]["name"], "main-controller");
  EXPECT_FALSE(get("Secret", "main-join")["data"]["join"].get<std::string>().empty());
  EXPECT_EQ(images(), std::set<std::string>{"registry.example.com/edge/edge-agent:0.1.0"});
}

TEST_F(OperatorTest, WritesNothingAtRest) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  // Another operator knows nothing of what this one wrote, and has nothing to add.
  auto second = start(config());
  ASSERT_TRUE(eventually([&] { return second->counts().reconciliations > 0 && second->counts().waiting == 0; }));
  const auto before = versions();
  const std::uint64_t writes = running->counts().writes;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t looks = running->counts().reconciliations;
    patch("Deployment", "main-controller", {{"metadata", {{"annotations", {{"touched", std::to_string(i)}}}}}});
    ASSERT_TRUE(eventually([&] { return running->counts().reconciliations > looks; }));
  }
  auto after = versions();
  after.erase("Deployment/main-controller");
  for (const auto& [name, version] : after) EXPECT_EQ(before.at(name), version) << name;
  EXPECT_EQ(running->counts().writes, writes);
  EXPECT_EQ(second->counts().writes, 0u);
}

TEST_F(OperatorTest, UpgradesDefinitionsOfAnOlderVersionBeforeAnythingElse) {
  change_definition(kSites, "0.0.9");
  ASSERT_EQ(definition_version(kSites), "0.0.9");
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << get("EdgeCluster", "main").dump(1) << log_.text();
  EXPECT_EQ(definition_version(kSites), EDGE_VERSION);
  EXPECT_EQ(condition("DefinitionsOutdated"), nullptr);
  EXPECT_THAT(log_.text(), HasSubstr("1 definitions are of version"));
}

TEST_F(OperatorTest, LeavesDefinitionsOfANewerVersion) {
  change_definition(kSites, "999.0.0");
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << get("EdgeCluster", "main").dump(1) << log_.text();
  EXPECT_EQ(definition_version(kSites), "999.0.0");
  EXPECT_THAT(log_.text(), HasSubstr("of version 999.0.0, newer than this operator"));
}

TEST_F(OperatorTest, LeavesDefinitionsWhereItIsToldSo) {
  change_definition(kSites, "0.0.9");
  upgrade_definitions_ = false;
  const auto running = start(config(), true);
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << get("EdgeCluster", "main").dump(1) << log_.text();
  EXPECT_EQ(definition_version(kSites), "0.0.9");
  EXPECT_EQ(condition("DefinitionsOutdated"), nullptr);
}

TEST_F(OperatorTest, ExchangesAgentsForThoseOfAnotherVersion) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  patch("EdgeCluster", "main", {{"spec", {{"version", "0.2.0"}}}});
  ASSERT_TRUE(eventually([&] { return runs() && images().contains("registry.example.com/edge/edge-agent:0.2.0"); }))
      << get("EdgeCluster", "main").dump(1) << log_.text();
  EXPECT_EQ(images().size(), 1u);
  EXPECT_EQ(made_pods_, 6);
  EXPECT_EQ(condition("Canary")["status"], "True");
  EXPECT_EQ(get("EdgeCluster", "main")["status"]["version"], "0.2.0");
}

TEST_F(OperatorTest, GoesBackWhenTheFirstAgentIsNotReady) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  patch("EdgeCluster", "main", {{"spec", {{"version", "broken"}}}});
  const std::string tried = "registry.example.com/edge/edge-agent:broken";
  ASSERT_TRUE(eventually([&] { return images().contains(tried); })) << log_.text();
  EXPECT_TRUE(eventually([&] { return phase() == "Upgrading"; }));
  later_ = 11;
  patch("EdgeCluster", "main", {{"metadata", {{"annotations", {{"look", "again"}}}}}});
  ASSERT_TRUE(eventually([&] {
    return phase() == "Degraded" && made_pods_ == 5 &&
           images() == std::set<std::string>{"registry.example.com/edge/edge-agent:0.1.0"};
  })) << get("EdgeCluster", "main").dump(1)
      << log_.text();
  // Five pods: the others were left alone.
  EXPECT_EQ(condition("Canary")["reason"], "Failed");
  EXPECT_EQ(get("EdgeCluster", "main")["status"]["version"], "0.1.0");
  patch("EdgeCluster", "main", {{"spec", {{"version", "0.3.0"}}}});
  EXPECT_TRUE(eventually([&] { return runs() && get("EdgeCluster", "main")["status"]["version"] == "0.3.0"; }))
      << get("EdgeCluster", "main").dump(1) << log_.text();
}

/// Of so many requests, so many failed; all within 10 ms.
cluster_operator::Traffic requests(std::uint64_t count, std::uint64_t failed) {
  return {.requests = count, .failed = failed, .durations = {count, 0}, .bounds = {0.01}};
}

TEST_F(OperatorTest, GoesBackWhenRequestsOfTheFirstAgentFail) {
  const auto running = start(config());
  json held = spec();
  // By time alone it would not go on.
  held["agents"]["updateStrategy"]["canaryDuration"] = "1h";
  create_cluster(held);
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  agents_.count_before(requests(5000, 0));
  agents_.count("n1", requests(400, 40));
  agents_.count("n2", requests(4000, 4));
  agents_.count("n3", requests(4000, 0));
  patch("EdgeCluster", "main", {{"spec", {{"version", "0.2.0"}}}});
  ASSERT_TRUE(eventually([&] {
    return phase() == "Degraded" && made_pods_ == 5 &&
           images() == std::set<std::string>{"registry.example.com/edge/edge-agent:0.1.0"};
  })) << get("EdgeCluster", "main").dump(1)
      << log_.text();
  EXPECT_THAT(condition("Canary")["message"].get<std::string>(), HasSubstr("10.0% of 400 requests"));
  EXPECT_THAT(condition("Canary")["message"].get<std::string>(), HasSubstr("0.1% of 8000 on the other agents"));
}

TEST_F(OperatorTest, GoesOnWhenTheFirstAgentServesAsTheOthers) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  for (const std::string& node : nodes_) agents_.count(node, requests(4000, 2000));
  patch("EdgeCluster", "main", {{"spec", {{"version", "0.2.0"}}}});
  EXPECT_TRUE(eventually([&] { return runs() && get("EdgeCluster", "main")["status"]["version"] == "0.2.0"; }))
      << get("EdgeCluster", "main").dump(1) << log_.text();
}

TEST_F(OperatorTest, MovesAddressesBeforeAgentsEnd) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  agents_.hold("shop/first", "n1");
  agents_.hold("shop/second", "n3");
  patch("EdgeCluster", "main", {{"spec", {{"version", "0.2.0"}}}});
  ASSERT_TRUE(eventually([&] { return runs() && images().contains("registry.example.com/edge/edge-agent:0.2.0"); }))
      << get("EdgeCluster", "main").dump(1) << log_.text();
  EXPECT_EQ(ended_with_address_, std::set<std::string>());
  const std::vector<std::string> moves = agents_.moves();
  ASSERT_GE(moves.size(), 2u);
  EXPECT_EQ(moves[0], "shop/first n1 n2");
  // The first agent has it back, so that it has requests to be compared.
  EXPECT_EQ(moves[1], "shop/first n2 n1");
}

TEST_F(OperatorTest, LeavesNamespacesThatEndWithoutIt) {
  auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  running.reset();
  const kube::Resource spaces{
      .group = "", .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false};
  api_->remove(spaces, "", kSpace);
  EXPECT_TRUE(eventually([&] { return api_->get(spaces, "", kSpace).failure.not_found(); }));
  EXPECT_TRUE(get("EdgeCluster", "main").is_null());
}

TEST_F(OperatorTest, RepairsWhatOthersChange) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  remove("Service", "main-controller");
  EXPECT_TRUE(eventually([&] { return get("Service", "main-controller").is_object(); })) << log_.text();
  patch("Deployment", "main-controller", {{"spec", {{"replicas", 0}}}});
  EXPECT_TRUE(eventually([&] { return get("Deployment", "main-controller")["spec"]["replicas"] == 1; })) << log_.text();
  patch("ClusterRoleBinding", "edge:edge-system:main", {{"subjects", json::array()}});
  EXPECT_TRUE(eventually([&] { return get("ClusterRoleBinding", "edge:edge-system:main")["subjects"].size() == 1; }));
  patch("ServiceAccount", "main-agent", {{"metadata", {{"labels", {{"app.kubernetes.io/managed-by", "me"}}}}}});
  EXPECT_TRUE(eventually([&] {
    return get("ServiceAccount", "main-agent")["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "edge-operator";
  }));
  // What others add stays.
  patch("Service", "main-controller", {{"metadata", {{"annotations", {{"mine", "1"}}}}}});
  patch("Deployment", "main-controller", {{"spec", {{"replicas", 5}}}});
  EXPECT_TRUE(eventually([&] { return get("Deployment", "main-controller")["spec"]["replicas"] == 1; }));
  EXPECT_EQ(get("Service", "main-controller")["metadata"]["annotations"]["mine"], "1");
}

TEST_F(OperatorTest, KeepsTheIdentity) {
  auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  const json before = get("Secret", "main-identity")["data"];
  running.reset();
  running = start(config());
  patch("EdgeCluster", "main", {{"spec", {{"logLevel", "debug"}}}});
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  EXPECT_EQ(get("Secret", "main-identity")["data"], before);
  // A lost one is replaced, and everything that knows it with it.
  remove("Secret", "main-identity");
  ASSERT_TRUE(eventually([&] { return get("Secret", "main-identity").is_object() && made_pods_ == 9 && runs(); }));
  EXPECT_NE(get("Secret", "main-identity")["data"], before);
}

TEST_F(OperatorTest, LeavesAPausedClusterAlone) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  patch("EdgeCluster", "main", {{"spec", {{"paused", true}}}});
  ASSERT_TRUE(eventually([&] { return condition("Paused").is_object(); }));
  // One look for the Service that is gone, and one more.
  std::uint64_t looks = running->counts().reconciliations;
  remove("Service", "main-controller");
  ASSERT_TRUE(eventually([&] { return running->counts().reconciliations > looks; }));
  looks = running->counts().reconciliations;
  patch("EdgeCluster", "main", {{"metadata", {{"annotations", {{"look", "again"}}}}}});
  ASSERT_TRUE(eventually([&] { return running->counts().reconciliations > looks; }));
  EXPECT_TRUE(get("Service", "main-controller").is_null());
  patch("EdgeCluster", "main", {{"spec", {{"paused", false}}}});
  EXPECT_TRUE(eventually([&] { return get("Service", "main-controller").is_object() && runs(); }));
  EXPECT_TRUE(condition("Paused").is_null());
}

TEST_F(OperatorTest, LeavesNothingOfAClusterThatIsDeleted) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  remove("EdgeCluster", "main");
  EXPECT_TRUE(eventually([&] {
    return get("EdgeCluster", "main").is_null() && get("ClusterRole", "edge:edge-system:main").is_null() &&
           get("ClusterRoleBinding", "edge:edge-system:main").is_null() && get("DaemonSet", "main-agent").is_null() &&
           get("Secret", "main-identity").is_null();
  }));
}

TEST_F(OperatorTest, RemovesWhatWasLeftWhileItWasAway) {
  auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  running.reset();
  // Nothing holds it back: the resource has no finalizer.
  remove("EdgeCluster", "main");
  ASSERT_TRUE(eventually([&] { return get("EdgeCluster", "main").is_null(); }));
  EXPECT_FALSE(get("ClusterRole", "edge:edge-system:main").is_null());
  running = start(config());
  EXPECT_TRUE(eventually([&] { return get("ClusterRole", "edge:edge-system:main").is_null(); }));
}

TEST_F(OperatorTest, OneOfTwoWorks) {
  auto first = start(config(), /*elect=*/true);
  ASSERT_TRUE(eventually([&] { return first->counts().leads; })) << log_.text();
  auto second = start(config(), /*elect=*/true);
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs() && second->counts().synced; })) << log_.text();
  EXPECT_FALSE(second->counts().leads);
  EXPECT_EQ(second->counts().writes, 0u);
  // It gives its Lease back.
  first.reset();
  patch("EdgeCluster", "main", {{"spec", {{"logLevel", "warn"}}}});
  ASSERT_TRUE(eventually([&] { return second->counts().leads && runs(); })) << log_.text();
  EXPECT_GT(second->counts().writes, 0u);
}

TEST_F(OperatorTest, SaysWhatIsAtFault) {
  const auto running = start(config());
  create_cluster({{"version", "0.1.0"}});
  ASSERT_TRUE(eventually([&] { return phase() == "Failed"; })) << log_.text();
  EXPECT_THAT(condition("Ready")["message"].get<std::string>(), HasSubstr("spec.image.repository"));
  EXPECT_TRUE(all("Deployment").empty());
  patch("EdgeCluster", "main", {{"spec", {{"image", {{"repository", "registry.example.com/edge"}}}}}});
  ASSERT_TRUE(eventually([&] { return runs(); })) << get("EdgeCluster", "main").dump(1);
}

TEST_F(OperatorTest, RunsTheDashboardWhileItIsWanted) {
  const auto running = start(config());
  json with = spec();
  with["web"] = {{"enabled", true},
                 {"tlsSecretRef", {{"name", "web-tls"}}},
                 {"oidc",
                  {{"issuerURL", "https://login.example.com"},
                   {"clientID", "edge"},
                   {"clientSecretRef", {{"name", "oidc"}}},
                   {"redirectURL", "https://edge.example.com/oauth2/callback"}}}};
  create_cluster(with);
  ASSERT_TRUE(eventually([&] { return runs(); })) << get("EdgeCluster", "main").dump(1) << log_.text();
  EXPECT_TRUE(eventually([&] { return get("EdgeCluster", "main")["status"]["web"]["summary"] == "1/1"; }));
  EXPECT_EQ(get("Deployment", "main-web")["spec"]["template"]["spec"]["containers"][0]["image"],
            "registry.example.com/edge/edgectl:0.1.0");
  EXPECT_EQ(get("Service", "main-web")["spec"]["ports"][0]["port"], 9080);
  EXPECT_EQ(get("ClusterRoleBinding", "edge:edge-system:main:web")["subjects"][0]["name"], "main-web");
  patch("EdgeCluster", "main", {{"spec", {{"web", {{"enabled", false}}}}}});
  ASSERT_TRUE(eventually([&] {
    return runs() && get("Deployment", "main-web").is_null() && get("Service", "main-web").is_null() &&
           get("ServiceAccount", "main-web").is_null() && get("ClusterRole", "edge:edge-system:main:web").is_null() &&
           get("ClusterRoleBinding", "edge:edge-system:main:web").is_null();
  })) << get("EdgeCluster", "main").dump(1)
      << log_.text();
  EXPECT_TRUE(eventually([&] { return get("EdgeCluster", "main")["status"]["web"]["summary"] == "0/0"; }));
  EXPECT_FALSE(get("Deployment", "main-controller").is_null());
}

TEST_F(OperatorTest, InstallsOneOfANamespace) {
  const auto running = start(config());
  create_cluster(spec());
  ASSERT_TRUE(eventually([&] { return runs(); })) << log_.text();
  create_cluster(spec(), "second");
  ASSERT_TRUE(eventually([&] { return phase("second") == "Failed"; }));
  EXPECT_THAT(condition("Ready", "second")["message"].get<std::string>(), HasSubstr("main"));
  EXPECT_TRUE(runs());
}

}  // namespace
}  // namespace edge::test
