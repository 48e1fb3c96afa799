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

const std::filesystem::path kManifest = EDGE_SOURCE_DIR "/deploy/rbac/edge-controller.yaml";

TEST(Access, IsWhatTheManifestAllows) {
  const std::string text = access_manifest();
  if (std::getenv("EDGE_UPDATE_SCHEMAS") != nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::filesystem::create_directories(kManifest.parent_path());
    std::ofstream(kManifest) << text;
  }
  std::ifstream in(kManifest);
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(kept, text) << kManifest << " is not what the tables make; run the target update-rbac";
}

TEST(Access, WritesStatusesAndEventsAlone) {
  for (const AccessRule& rule : cluster_access()) {
    for (const std::string& verb : rule.verbs) {
      if (verb == "get" || verb == "list" || verb == "watch") continue;
      for (const std::string& resource : rule.resources) {
        EXPECT_TRUE(resource.ends_with("/status") || resource == "events") << resource << " " << verb;
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
