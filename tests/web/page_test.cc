// The page in a real browser: every page and action by role and name (page.mjs).
#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/web/server/asset.h"
#include "tests/web/browser.h"
#include "tests/web/old_controller.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

Finished look(WebWorld& world, const std::string& part) {
  const char* pictures = std::getenv("EDGE_KEEP_SCREENSHOTS");
  return run_command(
      {"/usr/bin/env", "KUBECONFIG=" + world.dir() / "data/kubeconfig", "HOME=" + world.dir().path().string(),
       "EDGECTL=" + (bin_dir() / "edgectl").string(), "FOLDER=" + world.dir().path().string(),
       "PICTURES=" + std::string(pictures == nullptr ? "" : pictures), "PROXY=" + std::to_string(world.proxy().port),
       "node", "tests/web/page.mjs", kChromium, world.url(), part, kPlanted});
}

class WebPage : public testing::TestWithParam<const char*> {};

TEST_P(WebPage, IsUsedByRoleAndName) {
  if (const std::string why = why_no_browser(); !why.empty()) GTEST_SKIP() << why;
  const std::string part = GetParam();
  WebWorld world;
  ASSERT_EQ(part == "read-only" ? world.serve({"--read-only"}) : world.serve(), "");
  const Finished seen = look(world, part);
  EXPECT_EQ(seen.code, 0) << seen.out << seen.err;
  EXPECT_THAT(seen.out, testing::HasSubstr("done\n"));
}

TEST(WebPageOfGroups, HistoryAndTheWayBackAreByGroup) {
  if (const std::string why = why_no_browser(); !why.empty()) GTEST_SKIP() << why;
  WebWorld world(
      {"--label", "edgeproxy.io/group=canary"},
      "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: other}\nspec:\n"
      "  agentGroups: [edge]\n  listeners: [{name: http, port: 8081, protocol: HTTP}]\n---\n"
      "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: elsewhere}\nspec:\n"
      "  parentRefs: [{name: other}]\n  hostnames: [edge-only.example]\n  rules: [{backendRef: {name: be}}]\n");
  ASSERT_EQ(world.serve(), "");
  const Finished seen = look(world, "groups");
  EXPECT_EQ(seen.code, 0) << seen.out << seen.err;
}

TEST(WebPageOfAnOldController, SaysWhatItHasNot) {
  if (const std::string why = why_no_browser(); !why.empty()) GTEST_SKIP() << why;
  const OldController controller;
  WebWorld world;
  ASSERT_EQ(world.serve({"--controller", controller.address(), "--credentials", controller.credentials()}), "");
  const Finished seen = look(world, "old-controller");
  EXPECT_EQ(seen.code, 0) << seen.out << seen.err;
}

INSTANTIATE_TEST_SUITE_P(Parts, WebPage,
                         testing::Values("objects", "explain", "agents", "traffic", "edit", "create", "claims",
                                         "history", "analysis", "read-only", "everywhere"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

/// What the first page loads: its document, and what that names. Other parts come when they are needed.
TEST(WebPageSize, FirstPageIsSmall) {
  const auto assets = edgectl::web::assets();
  if (assets.size() < 2) GTEST_SKIP() << "edgectl was built without the page";
  const auto page = std::ranges::find(assets, "/index.html", &edgectl::web::Asset::path);
  ASSERT_NE(page, assets.end());
  const Finished document = run_command({"gzip", "-dc"}, std::string(page->gzip));
  ASSERT_THAT(document.out, testing::HasSubstr("/assets/index-"));
  std::size_t bytes = 0;
  std::size_t late = 0;
  for (const edgectl::web::Asset& asset : assets) {
    const bool first = asset.path == "/index.html" || document.out.find(asset.path) != std::string::npos;
    (first ? bytes : late) += asset.gzip.size();
  }
  EXPECT_LE(bytes, 150'000U);
  EXPECT_LE(late, 250'000U);
}

}  // namespace
}  // namespace edge::test
