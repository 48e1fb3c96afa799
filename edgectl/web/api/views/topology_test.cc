#include "edgectl/web/api/views/topology.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/web/api/test_store.h"

namespace edge::edgectl::web {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

constexpr const char* kGateway =
    R"({"kind":"ProxyGateway","metadata":{"namespace":"edge","name":"web"},"spec":{"vipRef":"edge/public","listeners":[)"
    R"({"name":"http","port":80,"protocol":"HTTP"},{"name":"https","port":443,"protocol":"HTTPS","hostnames":["shop.example"]}]}})";

std::string route(const std::string& name, const std::string& hosts, const std::string& backend) {
  return R"({"kind":"ProxyRoute","metadata":{"namespace":"shop","name":")" + name +
         R"("},"spec":{"parentRefs":[{"namespace":"edge","name":"web"}],"hostnames":)" + hosts +
         R"(,"rules":[{"backendRef":{"name":")" + backend + R"("}}]}})";
}

std::string backend(const std::string& name, const std::string& spec) {
  return R"({"kind":"ProxyBackend","metadata":{"namespace":"shop","name":")" + name + R"("},"spec":)" + spec + "}";
}

/// `Kind namespace/name -> Kind namespace/name`, ascending.
std::set<std::string> lines_of(const Json& graph) {
  const auto name = [&](std::size_t at) {
    const Json& node = graph["nodes"][at];
    return node["kind"].get<std::string>() + " " + node["namespace"].get<std::string>() + "/" +
           node["name"].get<std::string>();
  };
  std::set<std::string> lines;
  for (const Json& edge : graph["edges"]) lines.insert(name(edge[0]) + " -> " + name(edge[1]));
  return lines;
}

class Topology : public testing::Test {
 protected:
  Topology() {
    store_.add(kGateway);
    store_.add(
        R"({"kind":"ProxyVIP","metadata":{"namespace":"edge","name":"public"},"spec":{"address":"203.0.113.1/32"}})");
    store_.add(route("cart", R"(["shop.example","www.example"])", "cart"));
    store_.add(route("any", "[]", "none"));
    store_.add(backend("cart", R"({"endpoints":[{"address":"10.0.0.1:80"},{"address":"10.0.0.2:80"}]})"));
  }

  TestStore store_;
};

TEST_F(Topology, FollowsTheWayOfARequest) {
  const Json graph = topology_json(store_.view(), {});
  EXPECT_THAT(
      lines_of(graph),
      testing::UnorderedElementsAre(
          "ProxyVIP edge/public -> ProxyGateway edge/web", "ProxyGateway edge/web -> Host /shop.example",
          "ProxyGateway edge/web -> Host /www.example", "Host /shop.example -> ProxyRoute shop/cart",
          "Host /www.example -> ProxyRoute shop/cart",
          // A route without hosts serves those of the listeners.
          "Host /shop.example -> ProxyRoute shop/any", "ProxyRoute shop/cart -> ProxyBackend shop/cart",
          "ProxyRoute shop/any -> ProxyBackend shop/none", "ProxyBackend shop/cart -> Endpoint shop/10.0.0.1:80",
          "ProxyBackend shop/cart -> Endpoint shop/10.0.0.2:80"));
  const auto missing = std::ranges::find_if(graph["nodes"], [](const Json& node) { return node["name"] == "none"; });
  ASSERT_NE(missing, graph["nodes"].end());
  EXPECT_EQ((*missing)["health"], "bad");
  EXPECT_EQ(topology_json(store_.view(), {}), graph);
}

TEST_F(Topology, ListenersWithoutAddressAreServedOnAll) {
  store_.add(
      R"({"kind":"ProxyGateway","metadata":{"namespace":"edge","name":"web"},"spec":{"listeners":[{"name":"a","port":80}]}})");
  EXPECT_THAT(lines_of(topology_json(store_.view(), {})),
              AllOf(Contains("Address /* -> ProxyGateway edge/web"), Contains("Host /* -> ProxyRoute shop/any")));
}

TEST_F(Topology, UrlsAreShownWithoutTheirCredentials) {
  store_.add(backend("cart", R"({"url":"https://user:planted@api.example:8443/path?key=planted"})"));
  const Json graph = topology_json(store_.view(), {});
  EXPECT_THAT(lines_of(graph), Contains("ProxyBackend shop/cart -> Endpoint shop/api.example:8443"));
  EXPECT_THAT(json_line(graph), Not(HasSubstr("planted")));
}

TEST_F(Topology, IsNarrowedByNamespaceAndSearch) {
  EXPECT_TRUE(lines_of(topology_json(store_.view(), {.name_space = "other"})).empty());
  for (const char* search : {"SHOP/CA", "www.", "cart"}) {
    const auto lines = lines_of(topology_json(store_.view(), {.search = search}));
    EXPECT_THAT(lines, Contains("Host /www.example -> ProxyRoute shop/cart")) << search;
    EXPECT_THAT(lines, Not(Contains("ProxyRoute shop/any -> ProxyBackend shop/none"))) << search;
  }
}

TEST_F(Topology, IsBoundedAndSaysWhatItLeftOut) {
  for (int i = 0; i < 50; ++i) store_.add(route("many-" + std::to_string(i), R"(["shop.example"])", "cart"));
  const Json graph = topology_json(store_.view(), {}, {.nodes = 20, .edges = 1000});
  EXPECT_LE(graph["nodes"].size(), 24U);
  EXPECT_GT(graph["leftOut"].get<int>(), 30);
  for (const Json& edge : graph["edges"]) {
    EXPECT_LT(edge[0].get<std::size_t>(), graph["nodes"].size());
    EXPECT_LT(edge[1].get<std::size_t>(), graph["nodes"].size());
  }
}

TEST_F(Topology, ShowsWhatTheViewerMayList) {
  Visible visible;
  visible.allow(*schemas::find_kind("ProxyRoute"));
  const Json graph = topology_json(store_.view(visible), {});
  // The names that a route has are in the route; whether they exist is not told.
  EXPECT_THAT(lines_of(graph), Contains("ProxyRoute shop/any -> ProxyBackend shop/none"));
  EXPECT_THAT(json_line(graph), AllOf(Not(HasSubstr("10.0.0.1")), Not(HasSubstr("203.0.113")), Not(HasSubstr("bad"))));
}

}  // namespace
}  // namespace edge::edgectl::web
