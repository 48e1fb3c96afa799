// deploy/rbac is what the controller's own tables make.
#include "controller/rights/access.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::controller {
namespace {

const std::filesystem::path kFolder = EDGE_SOURCE_DIR "/deploy/rbac";

void expect_kept(const std::filesystem::path& file, const std::string& text) {
  if (std::getenv("EDGE_UPDATE_SCHEMAS") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::filesystem::create_directories((kFolder / file).parent_path());
    std::ofstream(kFolder / file) << text;
  }
  std::ifstream in(kFolder / file);
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(kept, text) << file << " is not what the tables make; run the target update-rbac";
}

TEST(Access, IsWhatTheManifestAllows) {
  expect_kept("edge-controller.yaml", access_manifest());
  expect_kept("edge-controller-priority.yaml", priority_manifest());
  // Not among what `kubectl apply -f deploy/rbac` applies.
  expect_kept("acme/edge-controller-acme.yaml", ordering_manifest());
  expect_kept("federation/edge-controller-federation.yaml", federation_manifest());
}

TEST(Access, WritesStatusesEventsAndServicesOfGatewaysAlone) {
  for (const AccessRule& rule : cluster_access()) {
    for (const std::string& verb : rule.verbs) {
      if (verb == "get" || verb == "list" || verb == "watch") continue;
      for (const std::string& resource : rule.resources) {
        const bool made = resource == "services" || resource == "endpointslices";
        EXPECT_TRUE(resource.ends_with("/status") || resource == "events" || made) << resource << " " << verb;
      }
    }
  }
}

/// No Secret is read by name, let alone written, before somebody has chosen that certificates are ordered.
TEST(Access, WritesSecretsWhereCertificatesAreOrderedAlone) {
  for (const AccessRule& rule : cluster_access()) {
    if (std::ranges::find(rule.resources, "secrets") == rule.resources.end()) continue;
    EXPECT_EQ(rule.verbs, (std::vector<std::string>{"list", "watch"}));
  }
  ASSERT_EQ(ordering_access().size(), 1U);
  EXPECT_EQ(ordering_access().front().resources, std::vector<std::string>{"secrets"});
  const RolePlace place{.role = "edge-acme", .service_account = "main-controller", .name_space = "edge"};
  const auto role = ordering_role(place);
  EXPECT_EQ(role["rules"], rules_json(ordering_access()));
  const auto wide = role_binding(place);
  EXPECT_EQ(wide["kind"], "ClusterRoleBinding");
  EXPECT_FALSE(wide["metadata"].contains("namespace"));
  const auto in_shop = role_binding_in(place, "shop");
  EXPECT_EQ(in_shop["kind"], "RoleBinding");
  EXPECT_EQ(in_shop["metadata"]["namespace"], "shop");
  for (const auto& binding : {wide, in_shop}) {
    EXPECT_EQ(binding["roleRef"]["name"], role["metadata"]["name"]);
    EXPECT_EQ(binding["subjects"][0]["name"], "main-controller");
    EXPECT_EQ(binding["subjects"][0]["namespace"], "edge");
  }
}

TEST(Access, FederationWritesObjectsOfTheKindsThatMayBeShared) {
  const std::vector<AccessRule> rules = federation_access();
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_EQ(rules[0].group, EDGE_API_GROUP);
  std::vector<std::string> resources = rules[0].resources;
  std::ranges::sort(resources);
  EXPECT_EQ(resources,
            (std::vector<std::string>{"proxybackends", "proxygateways", "proxypolicies", "proxyroutes", "proxyvips"}));
  EXPECT_EQ(rules[0].verbs, (std::vector<std::string>{"get", "create", "update", "delete"}));
  // What it lists and watches of them, the controller may anyway.
  for (const std::string& resource : resources) {
    EXPECT_TRUE(std::ranges::any_of(cluster_access(), [&](const AccessRule& rule) {
      return rule.group == EDGE_API_GROUP && std::ranges::count(rule.resources, resource) == 1 &&
             std::ranges::count(rule.verbs, "watch") == 1;
    })) << resource;
  }
}

TEST(Access, LeavesEndpointsToTheirMirror) {
  for (const schemas::Kind& kind : schemas::kinds()) {
    EXPECT_TRUE(follows(kind, /*embedded=*/true)) << kind.kind;
    EXPECT_EQ(follows(kind, /*embedded=*/false), kind.kind != "Endpoints") << kind.kind;
  }
}

}  // namespace
}  // namespace edge::controller
