// Files that are made of the operator's code: what installs it, and the objects that it makes of two EdgeClusters.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/json.h"
#include "controller/operator/render/install.h"
#include "controller/operator/test_cluster.h"
#include "schemas/yaml_text.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string rendered(const json& cluster) {
  const auto installation = cluster_operator::read_installation(cluster);
  EXPECT_TRUE(installation.ok()) << (installation.ok() ? "" : installation.error().text);
  std::string text;
  if (!installation) return text;
  for (const auto& object : cluster_operator::render(*installation, cluster_operator::identity())) {
    text += "---\n" + schemas::yaml_text(parse_ordered_json(object.text));
  }
  return text;
}

json with_every_field() {
  json cluster = cluster_operator::edge_cluster("whole");
  cluster["spec"] = json::parse(R"({
    "version": "0.2.0-rc.1",
    "image": {"repository": "localhost:5000/edge", "pullPolicy": "Always", "pullSecrets": ["registry"]},
    "controller": {"replicas": 3, "controllerClass": "example.com/inner", "grpcPort": 9190,
      "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "2Gi"}}, "nodeSelector": {"control": "yes"},
      "tolerations": [{"key": "control", "operator": "Exists", "effect": "NoSchedule"}],
      "topologySpreadConstraints": [{"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 2,
        "whenUnsatisfiable": "DoNotSchedule"}],
      "serviceAccount": {"annotations": {"example.com/role": "controller"}},
      "env": [{"name": "HTTPS_PROXY", "value": "http://proxy.example.com:3128"}], "stateClaim": "whole-state",
      "hub": {"joinSecretRef": {"name": "hub-join"}, "address": "hub.example.com:9090", "reads": "none",
        "federation": {"kinds": ["ProxyRoute", "Secret"], "namespaces": ["shop", "blog"]}}},
    "agents": {"nodeSelector": {"edge": "yes"}, "tolerations": [{"operator": "Exists"}], "hostNetwork": false,
      "metricsPort": 9290, "healthPort": 9291, "resources": {"limits": {"cpu": "4"}},
      "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}]}}},
      "serviceAccount": {"annotations": {"example.com/role": "agent"}},
      "env": [{"name": "TOKEN", "secretKeyRef": {"name": "outside", "key": "token"}}],
      "updateStrategy": {"type": "OnDelete", "maxUnavailable": "10%", "canaryDuration": "2m", "canaryTimeout": "15m"},
      "drainTimeout": "1m30s"},
    "web": {"enabled": true, "port": 9180, "replicas": 2, "readOnly": true, "tlsSecretRef": {"name": "web-tls"}, "metricsURL": "http://prometheus.monitoring:9090",
      "oidc": {"issuerURL": "https://login.example.com", "clientID": "edge", "clientSecretRef": {"name": "oidc"},
        "redirectURL": "https://edge.example.com/oauth2/callback", "sessionSecretRef": {"name": "session"}}},
    "logLevel": "debug"})");
  return cluster;
}

void expect_file(const std::string& name, const std::string& text) {
  const fs::path path = fs::path(EDGE_SOURCE_DIR) / name;
  if (std::getenv("EDGE_UPDATE_DEPLOY") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  EXPECT_EQ(text_of(path), text) << name << " is not what the code makes; run the target update-deploy";
}

TEST(OperatorFiles, InstallWhatTheCodeSays) {
  std::set<fs::path> made;
  for (const auto& [name, text] : cluster_operator::deploy_files()) {
    expect_file(name, text);
    made.insert(fs::path(EDGE_SOURCE_DIR) / name);
  }
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(EDGE_SOURCE_DIR) / "deploy/charts")) {
    if (entry.is_regular_file()) EXPECT_TRUE(made.contains(entry.path())) << entry.path() << " is made of nothing";
  }
}

/// What Helm would take for an expression of its own, where a description has it.
TEST(OperatorFiles, HaveNoExpressionInTheKinds) {
  for (const auto& [name, text] : cluster_operator::deploy_files()) {
    if (name.ends_with("crds.yaml")) EXPECT_THAT(text, Not(HasSubstr("{{")));
    if (name.ends_with("install.yaml")) EXPECT_THAT(text, Not(HasSubstr("{{")));
  }
}

TEST(OperatorFiles, AreTheObjectsOfTheSmallestCluster) {
  expect_file("tests/operator/rendered/smallest.yaml", rendered(cluster_operator::edge_cluster()));
}

TEST(OperatorFiles, AreTheObjectsOfAClusterWithEveryField) {
  expect_file("tests/operator/rendered/every-field.yaml", rendered(with_every_field()));
}

}  // namespace
}  // namespace edge::test
