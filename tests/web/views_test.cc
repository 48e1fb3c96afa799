// The pages to look at in a real browser, of a shop with traffic: every page and action by role and name (views.mjs).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/process.h"
#include "tests/web/browser.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

class WebViews : public testing::TestWithParam<const char*> {};

TEST_P(WebViews, AreUsedByRoleAndName) {
  if (const std::string why = why_no_browser(); !why.empty()) GTEST_SKIP() << why;
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
