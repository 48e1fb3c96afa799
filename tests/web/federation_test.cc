// The page about federation, in front of a controller's port whose federation is a sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/distribute/distributor.h"
#include "controller/federation/sample_view.h"
#include "controller/federation_page.h"
#include "tests/web/browser.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

using testing::HasSubstr;

constexpr const char* kKeepBerlin = R"({"kind":"ProxyRoute","namespace":"shop","name":"cart","keep":"bbbb.5.9"})";

class WebFederation : public testing::Test {
 protected:
  void serve(const std::vector<std::string>& more = {}) {
    controller::DistributorOptions options;
    options.listen = "127.0.0.1:0";
    options.data_dir = world_.dir() / "other";
    options.own_pages = [this](const controller::AgentQuestion& question, const controller::TakeAnswer& take) {
      take(controller::federation_page(sample_.view(), question));
    };
    auto started = controller::Distributor::start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().text;
    controller_ = std::move(*started);
    std::vector<std::string> flags = {"--credentials", controller_->admin_file()};
    flags.insert(flags.end(), more.begin(), more.end());
    ASSERT_EQ(world_.serve(flags), "");
  }
  nlohmann::json json(const std::string& path) {
    const HttpReply reply = world_.ask(path);
    EXPECT_EQ(reply.status, 200) << path << reply.body;
    return parse_json(reply.body);
  }

  WebWorld world_;
  federation::SampleFederation sample_;
  std::unique_ptr<controller::Distributor> controller_;
};

TEST_F(WebFederation, ShowsPeersAndConflictsAndResolvesOne) {
  serve();
  const nlohmann::json overview = json("/api/federation");
  EXPECT_EQ(overview["none"], "");
  EXPECT_EQ(overview["peers"][1]["fault"], "the connection was lost");
  EXPECT_FALSE(overview["items"][0]["winner"].contains("content"));
  const nlohmann::json conflict = json("/api/federation/conflicts/ProxyRoute/shop/cart")["items"][0];
  EXPECT_EQ(conflict["losers"][0]["content"]["kind"], "ProxyRoute");
  EXPECT_EQ(world_.ask("/api/federation/conflicts/ProxyRoute/shop/none").status, 404);
  EXPECT_EQ(world_.post("/api/federation/resolve", "{}").status, 400);
  EXPECT_EQ(
      world_.post("/api/federation/resolve", R"({"kind":"Nothing","namespace":"shop","name":"cart","keep":"bbbb.5.9"})")
          .status,
      400);
  EXPECT_TRUE(sample_.resolved.empty());
  EXPECT_EQ(world_.post("/api/federation/resolve", kKeepBerlin).status, 200);
  ASSERT_EQ(sample_.resolved.size(), 1U);
  EXPECT_EQ(json("/api/federation")["items"].size(), 0U);
}

TEST_F(WebFederation, SaysWhyThereIsNone) {
  sample_.leads = false;
  serve();
  EXPECT_THAT(json("/api/federation")["none"].get<std::string>(), HasSubstr("edge-controller-1"));
}

TEST_F(WebFederation, ReadOnlyResolvesNothing) {
  serve({"--read-only"});
  EXPECT_EQ(json("/api/federation")["items"].size(), 1U);
  EXPECT_EQ(world_.post("/api/federation/resolve", kKeepBerlin).status, 403);
  EXPECT_TRUE(sample_.resolved.empty());
}

class WebFederationPage : public WebFederation, public testing::WithParamInterface<const char*> {};

TEST_P(WebFederationPage, IsUsedByRoleAndName) {
  if (const std::string why = why_no_browser(); !why.empty()) GTEST_SKIP() << why;
  const std::string part = GetParam();
  serve(part == "reads" ? std::vector<std::string>{"--read-only"} : std::vector<std::string>());
  const Finished seen =
      run_command({"node", "tests/web/federation.mjs", kChromium, world_.url(), part, std::string(kPlanted)});
  EXPECT_EQ(seen.code, 0) << seen.out << seen.err;
  EXPECT_THAT(seen.out, HasSubstr("done\n"));
  EXPECT_EQ(sample_.resolved.size(), part == "reads" ? 0U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Parts, WebFederationPage, testing::Values("reads", "resolves"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace edge::test
