#include "edgectl/install/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/operator/render/install.h"
#include "schemas/crd.h"

namespace edge::edgectl {
namespace {

using nlohmann::json;
using testing::HasSubstr;

InstallOptions options(std::vector<std::string> fields = {}) {
  return {.name_space = "edge",
          .repository = "r.example/edge",
          .tag = "0.1.0",
          .cluster = "main",
          .fields = std::move(fields)};
}

json cluster_of(const std::vector<std::string>& fields) {
  const auto objects = plan(options(fields));
  EXPECT_TRUE(objects) << (objects ? "" : objects.error().text);
  return objects ? parse_json(objects->back().text)["spec"] : json();
}

std::string fault_of(InstallOptions with) {
  const auto objects = plan(with);
  return objects ? "" : objects.error().text;
}

/// Nothing but --acme gives a right to write Secrets outside the operator's own namespace.
TEST(Plan, GivesTheRightToOrderCertificatesWhereItIsChosen) {
  const auto rights_of = [](const InstallOptions& with) {
    std::vector<std::string> made;
    const auto objects = plan(with);
    EXPECT_TRUE(objects) << (objects ? "" : objects.error().text);
    if (!objects) return made;
    for (const Planned& object : *objects) {
      const json parsed = parse_json(object.text);
      for (const json& rule : parsed.value("rules", json::array())) {
        const auto verbs = rule["verbs"].get<std::vector<std::string>>();
        const auto resources = rule["resources"].get<std::vector<std::string>>();
        const bool writes = std::ranges::find(verbs, "create") != verbs.end();
        if (object.kind == "ClusterRole" && writes && std::ranges::find(resources, "secrets") != resources.end()) {
          made.push_back("rule " + object.name);
        }
      }
      if (object.name.starts_with("edge-acme:")) made.push_back(object.kind + " " + object.name_space);
    }
    return made;
  };
  InstallOptions with = options();
  EXPECT_THAT(rights_of(with), testing::IsEmpty());
  with.acme = true;
  EXPECT_THAT(rights_of(with), testing::ElementsAre("rule edge-acme:edge", "ClusterRole ", "ClusterRoleBinding "));
  with.acme_namespaces = {"shop", "blog"};
  EXPECT_THAT(rights_of(with), testing::ElementsAre("rule edge-acme:edge", "ClusterRole ", "RoleBinding shop",
                                                    "RoleBinding blog", "RoleBinding edge"));
  with.acme_namespaces = {"edge"};
  EXPECT_THAT(rights_of(with), testing::ElementsAre("rule edge-acme:edge", "ClusterRole ", "RoleBinding edge"));
  with.acme_namespaces = {"shop", "blog"};
  const auto objects = plan(with);
  ASSERT_TRUE(objects);
  for (const Planned& object : *objects) {
    if (object.kind != "RoleBinding" || object.name != "edge-acme:edge") continue;
    EXPECT_EQ(parse_json(object.text)["subjects"][0]["name"], "main-controller");
  }
  with.acme_namespaces = {"Shop"};
  EXPECT_THAT(fault_of(with), HasSubstr("--acme-namespace"));
}

/// Nor is the right to write what others share given unless it is asked for.
TEST(Plan, GivesTheRightToFederateWhereItIsAskedFor) {
  const auto bound = [](const InstallOptions& with) {
    std::vector<std::string> made;
    const auto objects = plan(with);
    if (!objects) return std::vector<std::string>{objects.error().text};
    for (const Planned& object : *objects) {
      if (object.name == "edge-federation:edge") made.push_back(object.kind + " " + object.name_space);
    }
    return made;
  };
  InstallOptions with = options();
  EXPECT_THAT(bound(with), testing::IsEmpty());
  with.federation = true;
  EXPECT_THAT(bound(with), testing::ElementsAre("ClusterRole ", "ClusterRoleBinding "));
  with.federation_namespaces = {"shop", "blog"};
  EXPECT_THAT(bound(with), testing::ElementsAre("ClusterRole ", "RoleBinding shop", "RoleBinding blog"));
  with.federation_namespaces = {"Shop"};
  EXPECT_THAT(fault_of(with), HasSubstr("--federation-namespace"));
}

TEST(Plan, HasDefinitionsThenTheNamespaceThenTheOperatorThenTheCluster) {
  const auto objects = plan(options());
  ASSERT_TRUE(objects) << objects.error().text;
  std::vector<Part> parts;
  for (const Planned& object : *objects) parts.push_back(object.part);
  EXPECT_TRUE(std::ranges::is_sorted(parts));
  EXPECT_EQ(std::ranges::count(parts, Part::kDefinitions), 11);
  EXPECT_EQ(std::ranges::count(parts, Part::kNamespace), 1);
  EXPECT_EQ(std::ranges::count(parts, Part::kCluster), 1);
  for (const Planned& object : *objects) {
    EXPECT_TRUE(object.name_space.empty() || object.name_space == "edge") << object.kind;
    EXPECT_EQ(parse_json(object.text)["metadata"]["name"], object.name);
  }
}

TEST(Plan, HasTheOperatorOfTheTables) {
  const auto objects = plan(options());
  ASSERT_TRUE(objects);
  const auto made = cluster_operator::operator_objects(
      {.name_space = "edge", .image = "r.example/edge/edge-operator:0.1.0", .pull_policy = "IfNotPresent"});
  std::vector<json> planned;
  for (const Planned& object : *objects) {
    if (object.part == Part::kOperator) planned.push_back(parse_json(object.text));
  }
  ASSERT_EQ(planned.size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(planned[i], parse_json(json_line(made[i])));
}

TEST(Plan, SaysInDefinitionsWhichVersionTheyAreOf) {
  const auto objects = plan(options());
  ASSERT_TRUE(objects);
  EXPECT_EQ(parse_json(objects->front().text)["metadata"]["annotations"][std::string(schemas::kDefinitionVersion)],
            EDGE_VERSION);
}

TEST(Plan, SetsFieldsByTheirType) {
  const json spec = cluster_of({"agents.metricsPort=9190", "logLevel=debug", "agents.hostNetwork=false",
                                "agents.nodeSelector.kubernetes.io/arch=amd64", "agents.tolerations=[{\"key\":\"a\"}]",
                                "agents.drainTimeout=5m", "image.pullPolicy=Always"});
  EXPECT_EQ(spec["agents"]["metricsPort"], 9190);
  EXPECT_EQ(spec["logLevel"], "debug");
  EXPECT_EQ(spec["agents"]["hostNetwork"], false);
  EXPECT_EQ(spec["agents"]["nodeSelector"], (json{{"kubernetes.io/arch", "amd64"}}));
  EXPECT_EQ(spec["agents"]["tolerations"], json::array({{{"key", "a"}}}));
  EXPECT_EQ(spec["agents"]["drainTimeout"], "5m");
  EXPECT_EQ(spec["image"], (json{{"repository", "r.example/edge"}, {"pullPolicy", "Always"}}));
}

TEST(Plan, NamesTheFieldOrFlagAtFault) {
  EXPECT_THAT(fault_of(options({"agents.metricPort=1"})), HasSubstr("did you mean `metricsPort`?"));
  EXPECT_THAT(fault_of(options({"logLevel.x=1"})), HasSubstr("no field `logLevel.x`"));
  EXPECT_THAT(fault_of(options({"logLevel"})), HasSubstr("FIELD=VALUE"));
  EXPECT_THAT(fault_of(options({"=1"})), HasSubstr("no field"));
  EXPECT_THAT(fault_of(options({"agents=5", "agents.metricsPort=1"})), HasSubstr("made no object of it"));
  EXPECT_THAT(fault_of(options({"agents.metricsPort=70000"})), HasSubstr("spec.agents.metricsPort"));
  EXPECT_THAT(fault_of(options({"agents.healthPort=9090"})), HasSubstr("spec.agents.healthPort"));
  EXPECT_THAT(fault_of(options({std::string(5000, 'a') + "=1"})), HasSubstr("FIELD=VALUE"));
  InstallOptions wrong = options();
  wrong.name_space = "Edge";
  EXPECT_THAT(fault_of(wrong), HasSubstr("--namespace"));
  wrong = options();
  wrong.cluster = "1st";
  EXPECT_THAT(fault_of(wrong), HasSubstr("metadata.name"));
  wrong = options();
  wrong.repository = "r.example/edge image";
  EXPECT_THAT(fault_of(wrong), HasSubstr("spec.image.repository"));
  wrong = options();
  wrong.tag = "0.1.0 x";
  EXPECT_THAT(fault_of(wrong), HasSubstr("spec.version"));
}

}  // namespace
}  // namespace edge::edgectl
