// deploy/rbac is what the controller's own tables make.
#include "controller/rights/access.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace edge::controller {
namespace {

const std::filesystem::path kFolder = EDGE_SOURCE_DIR "/deploy/rbac";

void expect_kept(const std::filesystem::path& file, const std::string& text) {
  if (std::getenv("EDGE_UPDATE_SCHEMAS") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::filesystem::create_directories(kFolder);
    std::ofstream(kFolder / file) << text;
  }
  std::ifstream in(kFolder / file);
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(kept, text) << file << " is not what the tables make; run the target update-rbac";
}

TEST(Access, IsWhatTheManifestAllows) {
  expect_kept("edge-controller.yaml", access_manifest());
  expect_kept("edge-controller-priority.yaml", priority_manifest());
}

TEST(Access, WritesStatusesEventsServicesOfGatewaysAndOrderedCertificatesAlone) {
  for (const AccessRule& rule : cluster_access()) {
    for (const std::string& verb : rule.verbs) {
      if (verb == "get" || verb == "list" || verb == "watch") continue;
      for (const std::string& resource : rule.resources) {
        const bool made = resource == "services" || resource == "endpointslices" || resource == "secrets";
        EXPECT_TRUE(resource.ends_with("/status") || resource == "events" || made) << resource << " " << verb;
      }
    }
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
