// A real browser's login: Chromium comes over TLS, and so HTTP/2, is sent to the provider, fills in its form, and ends
// on the page that it asked for.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/oidc/user_agent.h"
#include "tests/oidc/world.h"

namespace edge::test {
namespace {

constexpr const char* kChromium = "/usr/bin/chromium";

TEST(ChromiumLogin, EndsOnThePageThatWasAskedFor) {
  if (!provider_installed()) GTEST_SKIP() << "oidc-provider is not installed: npm ci --prefix tests/oidc";
  if (!std::filesystem::exists(kChromium)) GTEST_SKIP() << "chromium is not installed";
  const Provider provider({"provider.mjs"});
  const EchoBackend backend;
  const Agent agent({.issuer = provider.issuer(),
                     .backend = backend.port(),
                     .over = Over::kTls,
                     .oidc = "    scopes: [openid, email, profile]\n"});
  ASSERT_EQ(agent.fault(), "");
  const test::TempDir profile;
  const std::string picture = profile / "page.png";
  const test::Finished finished = test::run_command({"/usr/bin/node", "tests/oidc/chromium.mjs", kChromium,
                                                     profile / "profile", agent.origin() + "/cart?item=1", picture});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::HasSubstr("url " + agent.origin() + "/cart?item=1\n"));
  EXPECT_THAT(finished.out, testing::HasSubstr("GET /cart?item=1 HTTP/1.1\n"));
  EXPECT_THAT(finished.out, testing::HasSubstr("X-Auth-Subject: alice\n"));
  EXPECT_THAT(finished.out, testing::HasSubstr("X-Auth-Email: alice@example.com\n"));
  EXPECT_THAT(finished.out, testing::HasSubstr("Via: 2 edge\n"));
  EXPECT_THAT(finished.out, testing::HasSubstr("script 200\n"));
  EXPECT_THAT(finished.out, testing::HasSubstr("after-logout 401\n"));
  ASSERT_TRUE(std::filesystem::exists(picture));
  EXPECT_GT(std::filesystem::file_size(picture), 2000U);
  // To be looked at, where somebody asks for it.
  if (const char* keep = std::getenv("EDGE_KEEP_SCREENSHOT")) std::filesystem::copy_file(picture, keep);
}

}  // namespace
}  // namespace edge::test
