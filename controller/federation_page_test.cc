#include "controller/federation_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/federation/sample_view.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class FederationPage : public testing::Test {
 protected:
  AgentAnswer ask(const std::string& target, const std::string& method = "GET") {
    return federation_page(sample_.view(), {method, "/federation/" + target, "administrator ops at 192.0.2.7:5000"});
  }
  Json json(const std::string& target) {
    const AgentAnswer answer = ask(target);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return Json::parse(answer.body);
  }

  federation::SampleFederation sample_;
};

TEST_F(FederationPage, SaysWhatTheViewHas) {
  EXPECT_EQ(json("status")["byKind"][0]["objects"], 2);
  EXPECT_EQ(json("status")["stateWritten"], nullptr);
  const Json peers = json("peers")["items"];
  EXPECT_EQ(peers[0]["since"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(peers[1]["lagSeconds"], 90.0);
  EXPECT_FALSE(json("conflicts")["items"][0]["winner"].contains("content"));
  const Json conflict = json("conflicts?contents=1&kind=ProxyRoute&namespace=shop&name=cart")["items"][0];
  EXPECT_EQ(conflict["winner"]["version"], "aaaa.7.3");
  EXPECT_EQ(conflict["losers"][0]["content"]["spec"]["hostnames"][0], "shop.example");
  EXPECT_EQ(json("clock?kind=ProxyRoute&namespace=shop&name=cart")["clock"][1]["counters"][0]["last"], 4);
  EXPECT_EQ(json("preview")["items"][0]["change"], "Created");
}

TEST_F(FederationPage, ContentsOfSecretsAreLeftOut) {
  federation::View view = sample_.view();
  view.conflicts = [](const federation::ConflictsQuestion&) -> Result<federation::ConflictsView> {
    const federation::VersionView version{.author = "berlin", .dot = {{"b", 1}, 1}, .content = R"({"data":"planted"})"};
    return federation::ConflictsView{{{{"Secret", "shop", "key"}, version, {version}}}, ""};
  };
  const AgentAnswer answer = federation_page(view, {"GET", "/federation/conflicts?contents=1"});
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, testing::Not(HasSubstr("planted")));
}

TEST_F(FederationPage, ResolvesTheNamedVersionByPostAlone) {
  const std::string target = "resolve?kind=ProxyRoute&namespace=shop&name=cart&keep=bbbb.5.9";
  EXPECT_EQ(ask(target).status, 405);
  EXPECT_TRUE(sample_.resolved.empty());
  EXPECT_EQ(ask(target, "POST").status, 200);
  ASSERT_EQ(sample_.resolved.size(), 1u);
  EXPECT_EQ(sample_.resolved[0].counter, 9u);
  EXPECT_EQ(sample_.resolvers, std::vector<std::string>{"administrator ops at 192.0.2.7:5000"});
  // The one for whom it is asked is named besides, and cannot hide who asks.
  EXPECT_EQ(ask(target + "&by=alice%0a", "POST").status, 400);
  EXPECT_EQ(ask(target + "&by=" + std::string(129, 'a'), "POST").status, 400);
  EXPECT_EQ(ask(target + "&by=alice", "POST").status, 200);
  ASSERT_EQ(sample_.resolvers.size(), 2u);
  EXPECT_EQ(sample_.resolvers[1], "alice (administrator ops at 192.0.2.7:5000)");
  EXPECT_EQ(json("conflicts")["items"].size(), 0u);
}

TEST_F(FederationPage, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(ask("nothing").status, 404);
  EXPECT_EQ(ask("clock?kind=ProxyRoute").status, 400);
  EXPECT_EQ(ask("clock?kind=ProxyRoute&name=other").status, 404);
  EXPECT_EQ(ask("conflicts?after=" + std::string(600, 'x')).status, 400);
  for (const char* keep : {"", "aaaa", "aaaa.7", "aaaa.7.x", ".7.3", "aaaa.7.3.", "aaaa.-7.3"}) {
    EXPECT_EQ(ask("resolve?kind=ProxyRoute&namespace=shop&name=cart&keep=" + std::string(keep), "POST").status, 400);
  }
  EXPECT_EQ(ask("resolve?kind=ProxyRoute&namespace=shop&name=cart&keep=zz.7.3", "POST").status, 404);
  EXPECT_EQ(ask("status", "POST").status, 405);
}

TEST_F(FederationPage, SaysWhoLeadsAndThatThereIsNone) {
  sample_.leads = false;
  EXPECT_EQ(ask("status").status, 409);
  EXPECT_THAT(ask("status").body, HasSubstr("edge-controller-1"));
  EXPECT_EQ(federation_page({}, {"GET", "/federation/status"}).status, 501);
}

}  // namespace
}  // namespace edge::controller
