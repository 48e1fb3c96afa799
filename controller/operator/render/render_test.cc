#include "controller/operator/render/render.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/json.h"
#include "controller/operator/identity.h"
#include "controller/operator/render/access.h"
#include "controller/operator/test_cluster.h"
#include "controller/operator/writer.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

std::vector<Rendered> objects(const json& cluster, const Identity& with = identity()) {
  const auto installation = read_installation(cluster);
  EXPECT_TRUE(installation.ok()) << (installation.ok() ? "" : installation.error().text);
  return installation ? render(*installation, with) : std::vector<Rendered>();
}

std::map<std::string, std::string> hashes(const json& cluster, const Identity& with = identity()) {
  std::map<std::string, std::string> made;
  for (const Rendered& object : objects(cluster, with)) made[object.kind + "/" + object.name] = object.hash;
  return made;
}

/// Objects of which the hash is another one.
std::vector<std::string> changed_by(const std::string& pointer, const json& value) {
  json cluster = edge_cluster();
  const auto before = hashes(cluster);
  cluster[json::json_pointer(pointer)] = value;
  std::vector<std::string> changed;
  for (const auto& [name, hash] : hashes(cluster)) {
    if (before.at(name) != hash) changed.push_back(name);
  }
  return changed;
}

TEST(Render, GivesTheSameBytesForTheSameResource) {
  const auto first = objects(edge_cluster());
  const auto second = objects(edge_cluster());
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].text, second[i].text);
}

TEST(Render, SaysWhoseEveryObjectIs) {
  for (const Rendered& object : objects(edge_cluster())) {
    const json read = parse_json(object.text);
    const json& metadata = read["metadata"];
    EXPECT_EQ(metadata["labels"]["app.kubernetes.io/managed-by"], "edge-operator") << object.name;
    EXPECT_EQ(metadata["labels"]["app.kubernetes.io/instance"], "production") << object.name;
    EXPECT_EQ(metadata["annotations"][EDGE_API_GROUP "/rendered-hash"], object.hash) << object.name;
    EXPECT_EQ(cluster_of(read), "edge-system/production") << object.name;
    // Garbage collection removes at once what names an owner with a namespace and has none itself.
    EXPECT_EQ(metadata.contains("ownerReferences"), !object.name_space.empty()) << object.name;
  }
}

TEST(Render, ChangesWhatTheFieldIsAbout) {
  using testing::ElementsAre;
  EXPECT_THAT(changed_by("/spec/controller/replicas", 2), ElementsAre("Deployment/production-controller"));
  EXPECT_THAT(changed_by("/spec/agents/drainTimeout", "1m"), ElementsAre("DaemonSet/production-agent"));
  EXPECT_THAT(changed_by("/spec/version", "0.2.0"),
              ElementsAre("DaemonSet/production-agent", "Deployment/production-controller"));
  EXPECT_THAT(changed_by("/spec/agents/updateStrategy/maxUnavailable", "20%"), ElementsAre());
  EXPECT_THAT(changed_by("/spec/paused", true), ElementsAre());
}

json object_of(const json& cluster, const std::string& kind, const std::string& name) {
  for (const Rendered& object : objects(cluster)) {
    if (object.kind == kind && object.name == name) return parse_json(object.text);
  }
  return nullptr;
}

TEST(Render, HasWhatTheResourceSaysOfPods) {
  json cluster = edge_cluster();
  cluster["spec"]["agents"] = json::parse(R"({
    "env": [{"name": "A", "value": "1"}, {"name": "B", "secretKeyRef": {"name": "s", "key": "k"}}],
    "serviceAccount": {"annotations": {"example.com/role": "edge", "edgeproxy.io/rendered-hash": "x"}},
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}})");
  cluster["spec"]["controller"]["topologySpreadConstraints"] = json::array({{{"topologyKey", "zone"}}});
  const json agent = object_of(cluster, "DaemonSet", "production-agent")["spec"]["template"]["spec"];
  EXPECT_EQ(agent["affinity"], cluster["spec"]["agents"]["affinity"]);
  const json env = agent["containers"][0]["env"];
  ASSERT_EQ(env.size(), 3u);
  EXPECT_EQ(env[0]["name"], "NODE_NAME");
  EXPECT_EQ(env[1], json({{"name", "A"}, {"value", "1"}}));
  EXPECT_EQ(env[2]["valueFrom"]["secretKeyRef"], json({{"name", "s"}, {"key", "k"}}));
  const json account = object_of(cluster, "ServiceAccount", "production-agent")["metadata"]["annotations"];
  EXPECT_EQ(account["example.com/role"], "edge");
  EXPECT_NE(account[EDGE_API_GROUP "/rendered-hash"], "x");
  const json controller = object_of(cluster, "Deployment", "production-controller")["spec"]["template"]["spec"];
  const json& spread = controller["topologySpreadConstraints"][0];
  EXPECT_EQ(spread["maxSkew"], 1);
  EXPECT_EQ(spread["whenUnsatisfiable"], "ScheduleAnyway");
  EXPECT_EQ(spread["labelSelector"]["matchLabels"]["app.kubernetes.io/component"], "controller");
  EXPECT_TRUE(controller["affinity"].contains("podAntiAffinity"));
}

std::string arguments_of(const json& deployment) {
  std::string text;
  for (const json& one : deployment["spec"]["template"]["spec"]["containers"][0]["args"]) {
    text += one.get<std::string>() + " ";
  }
  return text;
}

TEST(Render, HasADashboardWhereItIsWanted) {
  using testing::HasSubstr;
  using testing::Not;
  json cluster = edge_cluster();
  EXPECT_EQ(object_of(cluster, "Deployment", "production-web"), nullptr);
  cluster["spec"]["web"] = {{"enabled", true}, {"readOnly", true}, {"metricsURL", "http://prometheus:9090"}};
  std::string arguments = arguments_of(object_of(cluster, "Deployment", "production-web"));
  EXPECT_THAT(arguments, HasSubstr("web --listen 127.0.0.1:9080 "));
  EXPECT_THAT(arguments, HasSubstr("--read-only --metrics-url http://prometheus:9090 "));
  EXPECT_THAT(arguments, Not(HasSubstr("--oidc")));
  EXPECT_EQ(object_of(cluster, "Service", "production-web"), nullptr) << "nobody is to reach it but by port-forward";
  cluster["spec"]["web"]["oidc"] = {{"issuerURL", "https://login.example.com"},
                                    {"clientID", "edge"},
                                    {"clientSecretRef", {{"name", "login"}}},
                                    {"redirectURL", "https://edge.example.com:8443/oauth2/callback"}};
  cluster["spec"]["web"]["oidc"]["sessionSecretRef"] = {{"name", "session"}};
  cluster["spec"]["web"]["tlsSecretRef"] = {{"name", "web-tls"}};
  const json web = object_of(cluster, "Deployment", "production-web");
  arguments = arguments_of(web);
  EXPECT_THAT(arguments, HasSubstr("web --listen 0.0.0.0:9080 "));
  EXPECT_THAT(arguments, HasSubstr("--tls-cert /etc/edge/tls/tls.crt --tls-key /etc/edge/tls/tls.key "));
  EXPECT_THAT(arguments, HasSubstr("--oidc-issuer https://login.example.com --oidc-client-id edge "));
  EXPECT_THAT(arguments,
              HasSubstr("--oidc-client-secret-file /etc/edge/oidc/client-secret --oidc-redirect-url "
                        "https://edge.example.com:8443/oauth2/callback --oidc-scope profile --oidc-scope email "));
  EXPECT_THAT(arguments, HasSubstr("--oidc-session-secret-file /etc/edge/session/session-secret "));
  EXPECT_THAT(arguments, HasSubstr("--host-name edge.example.com "));
  EXPECT_THAT(web.dump(), HasSubstr("\"secretName\":\"login\""));
  EXPECT_THAT(web.dump(), Not(HasSubstr("production-identity")));
  EXPECT_FALSE(object_of(cluster, "Service", "production-web").is_null());
}

TEST(Render, GivesControllersWhatTheyShare) {
  using testing::HasSubstr;
  using testing::Not;
  json cluster = edge_cluster();
  json deployment = object_of(cluster, "Deployment", "production-controller");
  EXPECT_THAT(arguments_of(deployment), Not(HasSubstr("--shared-dir")));
  EXPECT_EQ(deployment["spec"]["strategy"]["type"], "RollingUpdate");
  cluster["spec"]["controller"]["stateClaim"] = "state";
  deployment = object_of(cluster, "Deployment", "production-controller");
  // The volume may be one that a single node mounts.
  EXPECT_EQ(deployment["spec"]["strategy"], json({{"type", "Recreate"}}));
  EXPECT_THAT(arguments_of(deployment), HasSubstr("--shared-dir /var/lib/edge-cluster/state "));
  EXPECT_THAT(arguments_of(deployment), Not(HasSubstr("--hub")));
  const json pod = deployment["spec"]["template"]["spec"];
  EXPECT_EQ(pod["securityContext"]["fsGroupChangePolicy"], "OnRootMismatch");
  EXPECT_THAT(
      pod["volumes"],
      testing::Contains(json({{"name", "cluster-state"}, {"persistentVolumeClaim", {{"claimName", "state"}}}})));
  cluster["spec"]["controller"]["replicas"] = 2;
  EXPECT_EQ(object_of(cluster, "Deployment", "production-controller")["spec"]["strategy"]["type"], "RollingUpdate");
  cluster["spec"]["controller"]["hub"] =
      json::parse(R"({"joinSecretRef": {"name": "join"}, "address": "hub.example:9090",
    "federation": {"kinds": ["ProxyRoute", "ProxyBackend"], "namespaces": ["shop"]}, "reads": "traces"})");
  deployment = object_of(cluster, "Deployment", "production-controller");
  EXPECT_THAT(arguments_of(deployment),
              HasSubstr("--hub-join /etc/edge/hub/join --hub-reads traces --hub hub.example:9090 "
                        "--hub-federation ProxyRoute,ProxyBackend --hub-federation-namespaces shop "));
  EXPECT_THAT(deployment.dump(), HasSubstr("\"secretName\":\"join\""));
}

TEST(Access, OfADashboardReadsAlone) {
  for (const auto& rule : web_rules()) {
    EXPECT_EQ(rule["verbs"], (nlohmann::ordered_json{"get", "list", "watch"}));
    EXPECT_THAT(rule["resources"], testing::Not(testing::Contains("secrets")));
  }
}

TEST(Render, RestartsWhoKnowsAnotherIdentity) {
  Identity other = identity();
  other.administrator = "renewed";
  const auto before = hashes(edge_cluster());
  auto after = hashes(edge_cluster(), other);
  EXPECT_EQ(after["Deployment/production-controller"], before.at("Deployment/production-controller"));
  EXPECT_NE(after["Secret/production-admin"], before.at("Secret/production-admin"));
  other.authority = "another";
  after = hashes(edge_cluster(), other);
  EXPECT_NE(after["Deployment/production-controller"], before.at("Deployment/production-controller"));
  EXPECT_NE(after["DaemonSet/production-agent"], before.at("DaemonSet/production-agent"));
}

/// Agents see the join file alone: who reads it may join, and not sign.
TEST(Render, KeepsTheAuthorityFromAgents) {
  for (const Rendered& object : objects(edge_cluster())) {
    if (object.kind != "DaemonSet") continue;
    EXPECT_EQ(object.text.find("production-identity"), std::string::npos);
    EXPECT_NE(object.text.find("production-join"), std::string::npos);
  }
}

/// Nobody may give rights away that he has not.
TEST(Access, OfTheOperatorHasEveryRightOfTheController) {
  const auto all = operator_cluster_rules();
  for (const auto& rule : controller_rules()) EXPECT_THAT(all, testing::Contains(rule));
  for (const auto& rule : web_rules()) EXPECT_THAT(all, testing::Contains(rule));
  const auto own = operator_rules();
  for (const auto& rule : lease_rules()) {
    EXPECT_THAT(own, testing::Contains(testing::Truly([&](const auto& one) {
                  const auto covers = [&](const char* list) {
                    return std::ranges::all_of(rule[list], [&](const auto& word) {
                      return std::ranges::find(one[list], word) != one[list].end();
                    });
                  };
                  return one["apiGroups"] == rule["apiGroups"] && covers("resources") && covers("verbs");
                })))
        << rule;
  }
}

TEST(Projection, IsWhatWasAskedForOfWhatIsThere) {
  const json wanted = {{"a", 1}, {"list", {{{"x", 1}}}}, {"missing", 2}};
  const json live = {{"a", 3}, {"b", 4}, {"list", {{{"x", 1}, {"y", 2}}}}};
  EXPECT_EQ(projection(live, wanted), json({{"a", 3}, {"list", {{{"x", 1}}}}}));
  EXPECT_EQ(projection({{"list", {1, 2}}}, {{"list", {1}}}), json({{"list", {1, 2}}}));
}

TEST(OperatorIdentity, IsMadeOnceAndCompleted) {
  const auto made = make_identity({}, "c.edge-system.svc:9090");
  ASSERT_TRUE(made.ok()) << made.error().text;
  EXPECT_TRUE(made->complete());
  EXPECT_NE(made->administrator.find("c.edge-system.svc:9090"), std::string::npos);
  Identity known = *made;
  known.administrator.clear();
  const auto again = make_identity(known, "c.edge-system.svc:9090");
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(again->authority, made->authority);
  EXPECT_EQ(again->signing_key, made->signing_key);
  EXPECT_EQ(again->join, made->join);
  EXPECT_FALSE(again->administrator.empty());
}

}  // namespace
}  // namespace edge::cluster_operator
