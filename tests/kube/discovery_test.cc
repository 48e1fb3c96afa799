// Which kinds are served, from either kind of document; and the words for them.
#include "controller/kube/discovery.h"

#include <map>

#include <gmock/gmock.h>

#include "tests/kube/bench.h"
#include "tests/kube/fake_api.h"

namespace edge::test {
namespace {

using kube::Discovery;
using kube::DiscoveryReply;

const std::map<std::string, std::string> kAggregated = {
    {"/api", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{},"versions":[{"version":"v1","resources":[
       {"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get","list"],
        "shortNames":["po"],"categories":["all"],"subresources":[{"subresource":"status"}]},
       {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","singularResource":"node","shortNames":["no"]}]}]}]})"},
    {"/apis", R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x.io"},"versions":[
       {"version":"v2","resources":[{"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced","categories":["all"]},
                                    {"resource":"things","responseKind":{"kind":"Thing"},"shortNames":["po","th"]}]},
       {"version":"v1","resources":[{"resource":"pods","responseKind":{"kind":"Pod"},"categories":["all"]}]}]}]})"}};

const std::map<std::string, std::string> kPlain = {
    {"/api", R"({"kind":"APIVersions","versions":["v1"]})"},
    {"/api/v1", R"({"kind":"APIResourceList","resources":[
       {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],"shortNames":["po"],"categories":["all"]},
       {"name":"pods/status","namespaced":true,"kind":"Pod","verbs":["get"]},
       {"name":"nodes","singularName":"node","namespaced":false,"kind":"Node","shortNames":["no"]}]})"},
    {"/apis", R"({"kind":"APIGroupList","groups":[{"name":"x.io","preferredVersion":{"version":"v2"},
       "versions":[{"version":"v1"},{"version":"v2"}]},{"name":"gone.io","versions":[{"version":"v1"}]}]})"},
    {"/apis/x.io/v2", R"({"resources":[{"name":"pods","kind":"Pod","namespaced":true,"categories":["all"]},
                                       {"name":"things","kind":"Thing","shortNames":["po","th"]}]})"},
    {"/apis/x.io/v1", R"({"resources":[{"name":"pods","kind":"Pod","categories":["all"]}]})"}};

class DiscoveryTest : public testing::TestWithParam<const std::map<std::string, std::string>*> {
 protected:
  FakeApi api_{[](Exchange& exchange) {
    const auto position = GetParam()->find(exchange.target);
    if (position == GetParam()->end()) return exchange.refuse(503, "ServiceUnavailable");
    exchange.json(200, position->second);
  }};
  Bench bench_{config_of(api_.url()), {.tries = 0}};
  Discovery discovery_{bench_.client()};

  std::string found(const std::string& word) {
    const auto reply = bench_.get<Discovery::Found>([&](net::Waiter& waiter) { return discovery_.find(waiter, word); });
    EXPECT_TRUE(reply.failure.none()) << reply.failure.text();
    return reply.resource ? reply.resource->api_version() + " " + reply.resource->plural : "";
  }
};

TEST_P(DiscoveryTest, KnowsTheWords) {
  for (const char* word : {"pods", "pod", "po", "Pod", "PODS", "pods.v1"}) EXPECT_EQ(found(word), "v1 pods") << word;
  EXPECT_EQ(found("pods.x.io"), "x.io/v2 pods");
  EXPECT_EQ(found("pods.v1.x.io"), "x.io/v1 pods");
  EXPECT_EQ(found("th.x.io"), "x.io/v2 things");
  // A short name never hides a name.
  EXPECT_EQ(found("po.x.io"), "x.io/v2 things");
  EXPECT_EQ(found("none"), "");
  EXPECT_EQ(found("pods.y.io"), "");
  // Both were missing at once: one look at the server told it.
  EXPECT_EQ(api_.count("GET /apis"), GetParam() == &kPlain ? 4u : 1u);
}

TEST_P(DiscoveryTest, KnowsScopesAndKinds) {
  const auto reply = bench_.get<DiscoveryReply>([&](net::Waiter& waiter) { return discovery_.refresh(waiter); });
  ASSERT_TRUE(reply.ok()) << reply.failure.text();
  const kube::Resource* const pods = reply.table.find_kind("v1", "Pod");
  ASSERT_NE(pods, nullptr);
  EXPECT_TRUE(pods->namespaced);
  EXPECT_TRUE(pods->has_verb("list"));
  EXPECT_TRUE(pods->has_subresource("status"));
  EXPECT_FALSE(reply.table.find("nodes")->namespaced);
  EXPECT_EQ(reply.table.find_kind("x.io/v3", "Pod"), nullptr);
  // Of each kind one version.
  EXPECT_EQ(reply.table.of_category("all").size(), 2u);
  EXPECT_THAT(reply.unavailable,
              testing::ElementsAreArray(GetParam() == &kPlain ? std::vector<std::string>{"gone.io/v1"}
                                                              : std::vector<std::string>{}));
}

INSTANTIATE_TEST_SUITE_P(Documents, DiscoveryTest, testing::Values(&kAggregated, &kPlain),
                         [](const auto& info) { return info.param == &kPlain ? "Plain" : "Aggregated"; });

TEST(Discovery, SurvivesNonsense) {
  for (const char* text : {"", "[]", "{\"items\":7}", "{\"items\":[7,{\"versions\":[7,{\"resources\":[7,{}]}]}]}"}) {
    EXPECT_TRUE(kube::read_aggregated_discovery(text).empty()) << text;
  }
}

}  // namespace
}  // namespace edge::test
