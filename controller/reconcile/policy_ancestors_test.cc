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

std::string group_of(const std::string& kind) {
  if (kind == "Ingress") return "networking.k8s.io";
  return kind.starts_with("Proxy") ? "edgeproxy.io" : "gateway.networking.k8s.io";
}

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
    EXPECT_EQ(ref["group"], group_of(ref["kind"]));
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

Json part(const std::string& kind, const std::string& name, const std::string& section) {
  Json made = target(kind, name);
  made["group"] = group_of(kind);
  made["sectionName"] = section;
  return made;
}

/// A route of a kind of Gateway API with a rule `first` and one without a name.
Json route_of(const std::string& kind, const std::string& name, const std::string& parent, const Json& backend) {
  Json rules = Json::array({{{"name", "first"}, {"backendRefs", {backend}}}});
  // A TLSRoute has one rule.
  if (kind != "TLSRoute") rules.push_back({{"backendRefs", {backend}}});
  Json spec = {{"parentRefs", {{{"name", parent}}}}, {"rules", rules}};
  if (kind == "TLSRoute") spec["hostnames"] = {"tls.example"};
  return api(kind, name, spec);
}

// GEP-713: each kind that may be a target, whole and in part, with an older policy on it and without.
TEST(PolicyAncestors, EveryKindOfTarget) {
  const Json be = {{"name", "be"}, {"port", 80}};
  const std::vector<ObjectEdit> there = {
      edit(api("GatewayClass", "ours", {{"controllerName", kClass}})),
      edit(api("Gateway", "web",
               {{"gatewayClassName", "ours"},
                {"listeners",
                 {{{"name", "http"}, {"port", 81}, {"protocol", "HTTP"}},
                  {{"name", "tls"}, {"port", 443}, {"protocol", "TLS"}, {"tls", {{"mode", "Passthrough"}}}}}}})),
      edit(route_of("HTTPRoute", "http", "web", be)), edit(route_of("GRPCRoute", "grpc", "web", be)),
      edit(route_of("TLSRoute", "tls", "web", be))};
  for (const auto& [kind, name, section] :
       {std::tuple("Gateway", "web", "http"), std::tuple("HTTPRoute", "http", "first"),
        std::tuple("GRPCRoute", "grpc", "first"), std::tuple("TLSRoute", "tls", "first"),
        std::tuple("ProxyGateway", "gw", "http")}) {
    SCOPED_TRACE(kind);
    World world;
    std::map<std::string, DesiredStatus> known;
    const auto now = [&](const std::string& policy) {
      for (auto& [text, status] : world.desired_statuses()) known.insert_or_assign(text, std::move(status));
      return ancestors(known, policy);
    };
    world.start(there);
    world.apply({edit(policy("limit", Json::array({part(kind, name, section), part(kind, name, "none")})))});
    const std::string whole = std::string(kind) + " " + name;
    const std::string first = whole + "#" + section;
    EXPECT_THAT(now("limit"), ElementsAre(first + ": Accepted", whole + "#none: TargetNotFound"));
    // An older one on the part takes it; one on the whole does not.
    world.apply({edit(policy("on-whole", Json::array({target(kind, name)}), "2025-01-01T00:00:00Z"))});
    EXPECT_THAT(now("limit"), ElementsAre(first + ": Accepted", whole + "#none: TargetNotFound"));
    world.apply({edit(policy("on-part", Json::array({part(kind, name, section)}), "2025-01-01T00:00:00Z"))});
    EXPECT_THAT(now("limit"), ElementsAre(first + ": Conflicted", whole + "#none: TargetNotFound"));
    EXPECT_THAT(now("on-part"), ElementsAre(first + ": Accepted"));
    EXPECT_THAT(now("on-whole"), ElementsAre(whole + ": Accepted"));
    world.apply({removal("ProxyPolicy", "on-part")});
    EXPECT_THAT(now("limit"), ElementsAre(first + ": Accepted", whole + "#none: TargetNotFound"));
  }
}

TEST(PolicyAncestors, OfAnIngressAllItsHostsAreOne) {
  Json ingress = api("Ingress", "old",
                     {{"ingressClassName", "ours"},
                      {"rules",
                       {{{"host", "a.example"},
                         {"http",
                          {{"paths",
                            {{{"path", "/"},
                              {"pathType", "Prefix"},
                              {"backend", {{"service", {{"name", "be"}, {"port", {{"number", 80}}}}}}}}}}}}},
                        {{"host", "b.example"},
                         {"http",
                          {{"paths",
                            {{{"path", "/"},
                              {"pathType", "Prefix"},
                              {"backend", {{"service", {{"name", "be"}, {"port", {{"number", 80}}}}}}}}}}}}}}}});
  ingress["apiVersion"] = "networking.k8s.io/v1";
  Json ingress_class = api("IngressClass", "ours", {{"controller", "edgeproxy.io/ingress"}});
  ingress_class["apiVersion"] = "networking.k8s.io/v1";
  ingress_class["spec"]["controller"] = kClass;
  ingress_class["metadata"].erase("namespace");
  Json on = target("Ingress", "old");
  on["group"] = "networking.k8s.io";
  World world;
  world.start({edit(ingress_class), edit(ingress), edit(policy("limit", Json::array({on})))});
  EXPECT_THAT(ancestors(world.desired_statuses(), "limit"), ElementsAre("Ingress old: Accepted"));
  world.apply({edit(policy("older", Json::array({on}), "2025-01-01T00:00:00Z"))});
  const auto statuses = world.desired_statuses();
  EXPECT_THAT(ancestors(statuses, "limit"), ElementsAre("Ingress old: Conflicted"));
  EXPECT_THAT(ancestors(statuses, "older"), ElementsAre("Ingress old: Accepted"));
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

/// The objects as they are now, by name.
class Objects {
 public:
  std::vector<ObjectEdit> put(const Json& object) {
    objects_[object["kind"].get<std::string>() + " " + object["metadata"]["name"].get<std::string>()] = object;
    return {edit(object)};
  }
  std::vector<ObjectEdit> remove(const std::string& kind, const std::string& name) {
    objects_.erase(kind + " " + name);
    return {removal(kind, name)};
  }
  bool has(const std::string& kind, const std::string& name) const { return objects_.contains(kind + " " + name); }
  std::vector<ObjectEdit> all() const {
    std::vector<ObjectEdit> edits;
    for (const auto& [name, object] : objects_) edits.push_back(edit(object));
    return edits;
  }

 private:
  std::map<std::string, Json> objects_;
};

// A target that is deleted and made again, policies that are moved between targets, and two of one age: whatever came
// before, the program and the ancestors are those of a controller that starts with what is there.
TEST(PolicyAncestors, AfterEditsAreThoseOfAStartFromNothing) {
  const auto on = [](const Json& targets) { return Json::array({targets}); };
  const Json a = target("ProxyRoute", "a");
  const Json b = target("ProxyRoute", "b");
  Json remade = route("a", "/a");
  remade["metadata"]["uid"] = "another";
  remade["metadata"]["creationTimestamp"] = "2026-05-01T00:00:00Z";
  Json listener = target("ProxyGateway", "gw");
  listener["sectionName"] = "http";
  Objects objects;
  objects.put(route("a", "/a"));
  objects.put(route("b", "/b"));
  World world;
  std::map<std::string, DesiredStatus> known;
  world.start(objects.all());
  const auto same = [&](const std::vector<ObjectEdit>& edits, const std::string& what) {
    SCOPED_TRACE(what);
    const program::Hash now = world.apply(edits).hash;
    for (auto& [name, status] : world.desired_statuses()) known.insert_or_assign(name, std::move(status));
    World fresh;
    EXPECT_EQ(now, fresh.start(objects.all()).hash);
    const auto statuses = fresh.desired_statuses();
    for (const char* name : {"first", "second", "older"}) {
      if (!objects.has("ProxyPolicy", name)) continue;
      EXPECT_EQ(ancestors(known, name), ancestors(statuses, name)) << name;
    }
    for (const char* name : {"a", "b"}) {
      const auto found = statuses.find(std::string("ProxyRoute shop/") + name);
      if (found != statuses.end()) EXPECT_EQ(known.at(found->first).status, found->second.status);
    }
  };
  same(objects.put(policy("second", on(a))), "on a");
  same(objects.put(policy("first", on(a))), "two of one age on a");
  EXPECT_THAT(ancestors(known, "first"), ElementsAre("ProxyRoute a: Accepted"));
  EXPECT_THAT(ancestors(known, "second"), ElementsAre("ProxyRoute a: Conflicted"));
  same(objects.remove("ProxyRoute", "a"), "a is deleted");
  EXPECT_THAT(ancestors(known, "first"), ElementsAre("ProxyRoute a: TargetNotFound"));
  EXPECT_THAT(ancestors(known, "second"), ElementsAre("ProxyRoute a: TargetNotFound"));
  same(objects.put(remade), "a is made again");
  EXPECT_THAT(ancestors(known, "second"), ElementsAre("ProxyRoute a: Conflicted"));
  same(objects.put(policy("older", on(b), "2025-01-01T00:00:00Z")), "an older one on b");
  same(objects.put(policy("first", on(b))), "the first is moved to b");
  EXPECT_THAT(ancestors(known, "first"), ElementsAre("ProxyRoute b: Conflicted"));
  EXPECT_THAT(ancestors(known, "second"), ElementsAre("ProxyRoute a: Accepted"));
  same(objects.put(policy("older", on(a), "2025-01-01T00:00:00Z")), "the older one is moved to a");
  EXPECT_THAT(ancestors(known, "first"), ElementsAre("ProxyRoute b: Accepted"));
  EXPECT_THAT(ancestors(known, "second"), ElementsAre("ProxyRoute a: Conflicted"));
  same(objects.put(policy("older", on(listener), "2025-01-01T00:00:00Z")), "and to a listener");
  EXPECT_THAT(ancestors(known, "second"), ElementsAre("ProxyRoute a: Accepted"));
  same(objects.put(policy("second", Json::array({b, a, listener}))), "one with three targets");
  EXPECT_THAT(ancestors(known, "second"),
              ElementsAre("ProxyRoute b: Conflicted", "ProxyRoute a: Accepted", "ProxyGateway gw#http: Conflicted"));
  same(objects.remove("ProxyPolicy", "first"), "the first is deleted");
  same(objects.remove("ProxyPolicy", "older"), "the older one is deleted");
  EXPECT_THAT(ancestors(known, "second"),
              ElementsAre("ProxyRoute b: Accepted", "ProxyRoute a: Accepted", "ProxyGateway gw#http: Accepted"));
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

// What the object itself does not have is told with where it is from.
TEST(PolicyAncestors, AnEmptyFieldOfKubectlsAnnotationIsToldAsThat) {
  const char* const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  Json access = object("ProxyPolicy", "access",
                       {{"type", "IPAccess"},
                        {"targetRef", {{"kind", "ProxyGateway"}, {"name", "gw"}}},
                        {"ipAccess", {{"deny", {"192.0.2.0/24"}}}}});
  access["metadata"]["annotations"] = {{annotation, R"({"spec":{"ipAccess":{"allow":null}}})"}};
  World world;
  world.start({edit(access)});
  const auto told = [&world] {
    return condition(world.desired_statuses().at("ProxyPolicy shop/access").status, "Accepted").dump();
  };
  EXPECT_THAT(told(), testing::AllOf(testing::HasSubstr("`allow` is empty"), testing::HasSubstr(annotation)));
  access["metadata"]["annotations"] = {{annotation, R"({"spec":{"ipAccess":{"deny":null}}})"}};
  access["spec"]["ipAccess"] = {{"allow", nullptr}, {"deny", {"192.0.2.0/24"}}};
  world.try_apply({edit(access)});
  EXPECT_THAT(told(),
              testing::AllOf(testing::HasSubstr("`allow` is empty"), testing::Not(testing::HasSubstr(annotation))))
      << "the object has it";
  access["spec"]["ipAccess"].erase("allow");
  world.apply({edit(access)});
  EXPECT_THAT(told(), testing::HasSubstr("\"True\""));
}

}  // namespace
}  // namespace edge::controller
