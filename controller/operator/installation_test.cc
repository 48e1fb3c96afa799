#include "controller/operator/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/json.h"
#include "controller/operator/test_cluster.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

std::string fault_of(const std::string& pointer, const json& value) {
  json cluster = edge_cluster();
  cluster[json::json_pointer(pointer)] = value;
  const auto read = read_installation(cluster);
  return read ? "" : read.error().text;
}

TEST(Installation, HasTheDefaultsOfTheTables) {
  const auto read = read_installation(edge_cluster());
  ASSERT_TRUE(read.ok()) << read.error().text;
  const json spec = parse_json(read->spec);
  EXPECT_EQ(spec["controller"]["replicas"], 1);
  EXPECT_EQ(spec["controller"]["grpcPort"], 9090);
  EXPECT_EQ(spec["agents"]["hostNetwork"], true);
  EXPECT_EQ(spec["agents"]["drainTimeout"], "30s");
  EXPECT_EQ(spec["agents"]["updateStrategy"]["maxUnavailable"], 1);
  EXPECT_EQ(spec["logLevel"], "info");
  EXPECT_FALSE(spec["web"].contains("tlsSecretRef"));
  EXPECT_FALSE(read->paused);
  EXPECT_FALSE(read->wants_dashboard);
}

TEST(Installation, NamesWhatIsAtFault) {
  EXPECT_THAT(fault_of("/metadata/name", "9.production"), StartsWith("metadata.name"));
  EXPECT_THAT(fault_of("/metadata/name", std::string(51, 'a')), HasSubstr("at most 50"));
  EXPECT_EQ(fault_of("/metadata/name", std::string(50, 'a')), "");
  EXPECT_THAT(fault_of("/spec/version", "0.1.0 --privileged"), StartsWith("spec.version"));
  EXPECT_THAT(fault_of("/spec/version", std::string(64, '1')), StartsWith("spec.version"));
  EXPECT_EQ(fault_of("/spec/version", std::string(63, '1')), "");
  EXPECT_THAT(fault_of("/spec/image", json::object()), StartsWith("spec.image.repository"));
  EXPECT_THAT(fault_of("/spec/image/repository", "a b"), StartsWith("spec.image.repository"));
  EXPECT_THAT(fault_of("/spec/agents/updateStrategy/maxUnavailable", 0), HasSubstr("maxUnavailable"));
  EXPECT_THAT(fault_of("/spec/agents/updateStrategy/maxUnavailable", "0%"), HasSubstr("maxUnavailable"));
  EXPECT_THAT(fault_of("/spec/agents/updateStrategy/maxUnavailable", "101%"), HasSubstr("maxUnavailable"));
  EXPECT_EQ(fault_of("/spec/agents/updateStrategy/maxUnavailable", "100%"), "");
  EXPECT_THAT(fault_of("/spec/agents/drainTimeout", "25h"), HasSubstr("drainTimeout"));
  EXPECT_THAT(fault_of("/spec/controller/grpcPort", 65536), HasSubstr("grpcPort"));
  EXPECT_THAT(fault_of("/spec/agents/healthPort", 9090), HasSubstr("another port"));
}

TEST(Installation, NamesWhatIsAtFaultOfPods) {
  EXPECT_THAT(fault_of("/spec/agents/affinity", json::parse(R"({"nodeName": 1})")), StartsWith("spec.agents.affinity"));
  EXPECT_THAT(fault_of("/spec/agents/affinity", "x"), StartsWith("spec.agents.affinity"));
  EXPECT_EQ(fault_of("/spec/agents/affinity", json::parse(R"({"nodeAffinity": {}})")), "");
  EXPECT_THAT(fault_of("/spec/controller/env", json::parse(R"([{"name": "NODE_NAME", "value": ""}])")),
              HasSubstr("env[0].name"));
  EXPECT_THAT(fault_of("/spec/controller/env", json::parse(R"([{"name": "A"}])")),
              HasSubstr("one of value and secretKeyRef"));
  EXPECT_THAT(fault_of("/spec/controller/env", json::parse(R"([{"name": "A", "value": 1}])")),
              HasSubstr("env[0].value"));
  EXPECT_THAT(fault_of("/spec/controller/env", json::array({1})), HasSubstr("env[0] takes an object"));
  EXPECT_THAT(fault_of("/spec/controller/topologySpreadConstraints", json::parse(R"([{"maxSkew": "1"}])")),
              HasSubstr("maxSkew"));
  EXPECT_THAT(fault_of("/spec/controller/serviceAccount", json::parse(R"({"annotations": {"a": 1}})")),
              HasSubstr("annotations.a"));
  EXPECT_THAT(fault_of("/spec/agents/updateStrategy/type", "Recreate"), HasSubstr("one of RollingUpdate, OnDelete"));
  EXPECT_THAT(fault_of("/spec/agents/updateStrategy/canaryDuration", "-1s"), HasSubstr("canaryDuration"));
  EXPECT_THAT(fault_of("/spec/agents/updateStrategy/canaryTimeout", "25h"), HasSubstr("canaryTimeout"));
}

TEST(Installation, RefusesADashboardThatCouldNotHoldToItsLogin) {
  json web = json::parse(
      R"({"enabled": true, "tlsSecretRef": {"name": "tls"}, "oidc": {"issuerURL": "https://login.example.com",
    "clientID": "edge", "clientSecretRef": {"name": "oidc"}, "redirectURL": "https://edge.example.com/oauth2/callback"}})");
  EXPECT_EQ(fault_of("/spec/web", web), "");
  web["replicas"] = 2;
  EXPECT_THAT(fault_of("/spec/web", web), StartsWith("spec.web.oidc.sessionSecretRef"));
  web["oidc"]["sessionSecretRef"] = {{"name", "session"}};
  EXPECT_EQ(fault_of("/spec/web", web), "");
  web["oidc"]["groups"] = {"operators"};
  EXPECT_THAT(fault_of("/spec/web", web), StartsWith("spec.web.oidc.groups"));
  web["oidc"].erase("groups");
  web.erase("tlsSecretRef");
  EXPECT_THAT(fault_of("/spec/web", web), StartsWith("spec.web.tlsSecretRef"));
  web["enabled"] = false;
  EXPECT_EQ(fault_of("/spec/web", web), "");
}

TEST(Installation, RefusesAHubThatNoPodCouldComeBackTo) {
  json controller = json::parse(R"({"stateClaim": "state", "hub": {"joinSecretRef": {"name": "join"}}})");
  EXPECT_EQ(fault_of("/spec/controller", controller), "");
  controller.erase("stateClaim");
  EXPECT_THAT(fault_of("/spec/controller", controller), StartsWith("spec.controller.stateClaim"));
  controller = json::parse(R"({"stateClaim": "state", "hub": {"reads": "all"}})");
  EXPECT_THAT(fault_of("/spec/controller", controller), HasSubstr("reads"));
  controller = json::parse(R"({"stateClaim": "state", "hub": {}})");
  EXPECT_THAT(fault_of("/spec/controller", controller), StartsWith("spec.controller.hub.joinSecretRef"));
}

TEST(Installation, TakesNothingOfAnotherTypeForAValue) {
  EXPECT_EQ(fault_of("/spec/agents", json::array({1})), "");
  EXPECT_EQ(fault_of("/spec/controller", "x"), "");
  EXPECT_THAT(fault_of("/spec/controller/nodeSelector", json::parse(R"({"a": 1})")),
              StartsWith("spec.controller.nodeSelector.a"));
  EXPECT_THAT(fault_of("/spec/image/pullSecrets", json::array({1})), StartsWith("spec.image.pullSecrets[0]"));
  EXPECT_THAT(fault_of("/spec/paused", "yes"), StartsWith("spec.paused"));
  EXPECT_THAT(fault_of("/spec", nullptr), StartsWith("spec.version"));
}

}  // namespace
}  // namespace edge::cluster_operator
