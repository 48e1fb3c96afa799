#include "edgectl/web/api/views/wan_view.h"

#include <string>

#include <gtest/gtest.h>

#include "edgectl/web/api/test_store.h"

namespace edge::edgectl::web {
namespace {

std::string wan_site(const std::string& name, const std::string& role, const std::string& peers) {
  return R"({"kind":"Site","metadata":{"namespace":"n","name":")" + name + R"("},"spec":{"role":")" + role +
         R"("},"status":{"peers":)" + peers + R"(,"conditions":[{"type":"Ready","status":"True"}]}})";
}

class WanView : public testing::Test {
 protected:
  void SetUp() override {
    store_.add(wan_site("kiel", "spoke", "[]"));
    store_.add(wan_site("hamburg", "hub", R"(["n/bremen"])"));
    store_.add(wan_site("bremen", "spoke", R"(["n/hamburg"])"));
    store_.add(R"({"kind":"WANLink","metadata":{"namespace":"n","name":"fibre"},"spec":{"siteRef":"hamburg"},)"
               R"("status":{"latency":"12ms","conditions":[{"type":"Healthy","status":"False"}]}})");
    store_.add(R"({"kind":"WANPolicy","metadata":{"namespace":"n","name":"voice"},"spec":{},"status":{"paths":[)"
               R"({"site":"n/hamburg","peer":"n/bremen","links":["n/fibre"],"since":"2026-01-02T03:04:05Z",)"
               R"("reason":"the only link"}]}})");
  }

  TestStore store_;
};

TEST_F(WanView, HasSitesByNameAndTheTunnelsBetweenThem) {
  const auto json = wan_json(store_.view());
  ASSERT_EQ(json["sites"].size(), 3U);
  EXPECT_EQ(json["sites"][0]["name"], "n/bremen");
  EXPECT_EQ(json["sites"][1]["links"][0]["healthy"], "False");
  EXPECT_EQ(json["tunnels"].dump(), R"([[0,1,"up"],[1,2,"down"]])") << "spokes have none between them";
  EXPECT_EQ(json["sitesLeftOut"], 0);
}

TEST_F(WanView, HasThePathsOfPolicies) {
  const auto json = wan_json(store_.view());
  ASSERT_EQ(json["paths"].size(), 1U);
  EXPECT_EQ(json["paths"][0].dump(),
            R"({"namespace":"n","policy":"voice","site":"n/hamburg","peer":"n/bremen","links":["n/fibre"],)"
            R"("since":"2026-01-02T03:04:05Z","reason":"the only link"})");
}

TEST_F(WanView, CountsSitesBeyondItsLimit) {
  for (std::size_t i = 0; i < kMostWanSites; ++i) store_.add(wan_site("s" + std::to_string(i), "spoke", "[]"));
  const auto json = wan_json(store_.view());
  EXPECT_EQ(json["sites"].size(), kMostWanSites);
  EXPECT_EQ(json["sitesLeftOut"], 3);
}

}  // namespace
}  // namespace edge::edgectl::web
