// The pages to look at in a real browser, of a shop with traffic: every page and action by role and name (views.mjs).
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/web/server/asset.h"
#include "tests/cli/process.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

constexpr const char* kChromium = "/usr/bin/chromium";

/// Why nothing can be seen of the pages; empty: it can.
std::string missing() {
  if (!std::filesystem::exists("tests/web/node_modules/playwright-core/package.json"))
    return "playwright-core is not installed: npm ci --prefix tests/web";
  if (!std::filesystem::exists(kChromium)) return "chromium is not installed";
  return edgectl::web::assets().size() < 2 ? "edgectl was built without the page" : "";
}

class WebViews : public testing::TestWithParam<const char*> {};

TEST_P(WebViews, AreUsedByRoleAndName) {
  if (const std::string why = missing(); !why.empty()) GTEST_SKIP() << why;
  const TempDir folder;
  const Finished seen = run_command(
      {"node", "tests/web/views.mjs", kChromium, bin_dir().string(), folder.path().string(), GetParam(), kPlanted});
  EXPECT_EQ(seen.code, 0) << seen.out << seen.err;
  EXPECT_THAT(seen.out, testing::HasSubstr("done\n"));
}

INSTANTIATE_TEST_SUITE_P(Parts, WebViews,
                         testing::Values("topology", "many", "requests", "traces", "certificates", "policies", "places",
                                         "secrets", "everywhere"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace edge::test
