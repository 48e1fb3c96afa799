// The page in a real browser: every page and action by role and name (page.mjs).
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/web/server/asset.h"
#include "tests/web/browser.h"
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

INSTANTIATE_TEST_SUITE_P(Parts, WebPage,
                         testing::Values("objects", "explain", "agents", "traffic", "read-only", "everywhere"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(WebPageSize, FirstPageIsSmall) {
  if (edgectl::web::assets().size() < 2) GTEST_SKIP() << "edgectl was built without the page";
  std::size_t bytes = 0;
  for (const edgectl::web::Asset& asset : edgectl::web::assets()) bytes += asset.gzip.size();
  EXPECT_LE(bytes, 150'000U);
}

}  // namespace
}  // namespace edge::test
