// status.ancestors of ProxyPolicies (GEP-713): what became of each target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/reconcile/test_cluster.h"

namespace edge::controller {
namespace {

using test::api;
using test::condition;
using test::edit;
using test::Json;
using test::kClass;
using test::object;
using test::removal;
using test::route;
using test::World;
using testing::ElementsAre;
using testing::IsEmpty;

Json policy(const std::string& name, const Json& targets, const std::string& created = "2026-01-01T00:00:00Z") {
  Json made = object("ProxyPolicy", name,
                     {{"type", "RateLimit"}, {"rateLimit", {{"requestsPerSecond", 5}}}, {"targetRefs", targets}});
  made["metadata"]["creationTimestamp"] = created;
  return made;
}

Json target(const std::string& kind, const std::string& name) { return {{"kind", kind}, {"name", name}}; }

/// `Kind name[#section]: reason of Accepted` of each ancestor.
std::vector<std::string> ancestors(const std::map<std::string, DesiredStatus>& statuses, const std::string& name) {
  std::vector<std::string> all;
  const auto found = statuses.find("ProxyPolicy shop/" + name);
  if (found == statuses.end()) return all;
  const Json status = Json::parse(found->second.status, nullptr, false);
  for (const Json& ancestor : status.value("ancestors", Json::array())) {
    const Json& ref = ancestor["ancestorRef"];
    EXPECT_EQ(ancestor["controllerName"], kClass);
    EXPECT_EQ(ref["namespace"], "shop");
    EXPECT_EQ(ref["group"], ref["kind"] == "HTTPRoute" ? "gateway.networking.k8s.io" : "edgeproxy.io");
    all.push_back(ref["kind"].get<std::string>() + " " + ref["name"].get<std::string>() +
                  (ref.contains("sectionName") ? "#" + ref["sectionName"].get<std::string>() : "") + ": " +
                  condition(ancestor.dump(), "Accepted")["reason"].get<std::string>());
  }
  return all;
}

Json http_route(const std::string& name, const Json& parents) {
  return api("HTTPRoute", name,
             {{"parentRefs", parents}, {"rules", {{{"backendRefs", {{{"name", "be"}, {"port", 80}}}}}}}});
}
const Json kOurGateway = {{"group", "edgeproxy.io"}, {"kind", "ProxyGateway"}, {"name", "gw"}};

TEST(PolicyAncestors, EachTargetSaysWhatBecameOfIt) {
  Json listener = target("ProxyGateway", "gw");
  listener["sectionName"] = "http";
  Json none = target("ProxyGateway", "gw");
  none["sectionName"] = "none";
  World world;
  world.start({edit(route("a", "/a")), edit(http_route("web", Json::array({kOurGateway}))),
               edit(policy("older", Json::array({target("ProxyRoute", "a")}), "2025-01-01T00:00:00Z")),
               edit(policy("limit", Json::array({target("ProxyRoute", "a"), target("HTTPRoute", "web"), listener, none,
                                                 target("ProxyRoute", "lost")})))});
  const auto statuses = world.desired_statuses();
  EXPECT_THAT(ancestors(statuses, "older"), ElementsAre("ProxyRoute a: Accepted"));
  EXPECT_THAT(ancestors(statuses, "limit"),
              ElementsAre("ProxyRoute a: Conflicted", "HTTPRoute web: Accepted", "ProxyGateway gw#http: Accepted",
                          "ProxyGateway gw#none: TargetNotFound", "ProxyRoute lost: TargetNotFound"));
  // The policy as a whole is not as it was asked for.
  EXPECT_EQ(condition(statuses.at("ProxyPolicy shop/limit").status, "Accepted")["reason"], "Conflicted");
}

TEST(PolicyAncestors, FollowTheTargetsThatComeAndGo) {
  World world;
  world.start({edit(policy("limit", Json::array({target("ProxyRoute", "a"), target("ProxyRoute", "b")}))),
               edit(route("a", "/a"))});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"),
              ElementsAre("ProxyRoute a: Accepted", "ProxyRoute b: TargetNotFound"));
  world.apply({edit(route("b", "/b"))});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"),
              ElementsAre("ProxyRoute a: Accepted", "ProxyRoute b: Accepted"));
  world.apply({removal("ProxyRoute", "a")});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"),
              ElementsAre("ProxyRoute a: TargetNotFound", "ProxyRoute b: Accepted"));
  // The older policy goes, and the newer one holds.
  world.apply({edit(policy("older", Json::array({target("ProxyRoute", "b")}), "2025-01-01T00:00:00Z"))});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"),
              ElementsAre("ProxyRoute a: TargetNotFound", "ProxyRoute b: Conflicted"));
  world.apply({removal("ProxyPolicy", "older")});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"),
              ElementsAre("ProxyRoute a: TargetNotFound", "ProxyRoute b: Accepted"));
  // A target that is no longer named has no entry.
  world.apply({edit(policy("limit", Json::array({target("ProxyRoute", "b")})))});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"), ElementsAre("ProxyRoute b: Accepted"));
}

TEST(PolicyAncestors, OfAnotherControllersTargetNothingIsSaid) {
  const Json theirs = {{"name", "theirs"}};
  World world;
  world.start({edit(policy("limit", Json::array({target("HTTPRoute", "web")}))),
               edit(api("GatewayClass", "other", {{"controllerName", "example.com/other"}})),
               edit(api("Gateway", "theirs",
                        {{"gatewayClassName", "other"},
                         {"listeners", {{{"name", "http"}, {"port", 81}, {"protocol", "HTTP"}}}}})),
               edit(http_route("web", Json::array({theirs})))});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"), IsEmpty());
  // The policy is as it was; its target is ours now.
  world.apply({edit(http_route("web", Json::array({theirs, kOurGateway})))});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"), ElementsAre("HTTPRoute web: Accepted"));
  world.apply({edit(http_route("web", Json::array({theirs})))});
  const auto statuses = world.desired_statuses();
  ASSERT_TRUE(statuses.contains("ProxyPolicy shop/limit"));
  EXPECT_THAT(ancestors(statuses, "limit"), IsEmpty());
}

}  // namespace
}  // namespace edge::controller
