// Which addresses a status of an Ingress has, and whose statuses are left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/reconcile/test_cluster.h"

namespace edge::controller {
namespace {

using test::edit;
using test::Json;
using test::kClass;
using test::object;
using test::World;
using testing::ElementsAre;
using testing::IsEmpty;

Json networking(const std::string& kind, const std::string& name, const Json& spec) {
  Json made = object(kind, name, spec);
  made["apiVersion"] = "networking.k8s.io/v1";
  if (kind == "IngressClass") made["metadata"].erase("namespace");
  return made;
}

Json ingress(const std::string& name, const std::string& class_name, const std::string& host = {}) {
  const Json backend = {{"service", {{"name", "be"}, {"port", {{"number", 80}}}}}};
  Json spec = {{"ingressClassName", class_name}};
  if (host.empty()) {
    spec["defaultBackend"] = backend;
  } else {
    const Json path = {{"path", "/"}, {"pathType", "Prefix"}, {"backend", backend}};
    spec["rules"] = Json::array({Json{{"host", host}, {"http", {{"paths", Json::array({path})}}}}});
  }
  return networking("Ingress", name, spec);
}

Json shared_vip(const std::string& name, const Json& spec) {
  Json vip = object("ProxyVIP", name, spec);
  vip["metadata"]["namespace"] = "edge-system";
  return vip;
}

const Json kPool = shared_vip("public", {{"pool", Json::array({"192.0.2.8/32"})}});
const Json kOurs = networking("IngressClass", "edge", {{"controller", kClass}});
const Json kTheirs = networking("IngressClass", "theirs", {{"controller", "example.com/other"}});

/// The addresses of one of the Ingresses; nothing: its status is left as it is.
std::optional<std::vector<std::string>> addresses(std::map<std::string, DesiredStatus>& statuses,
                                                  const std::string& name) {
  const Json status = Json::parse(statuses["Ingress shop/" + name].status, nullptr, false);
  if (status.is_discarded()) return std::nullopt;
  std::vector<std::string> all;
  for (const Json& one : status["loadBalancer"]["ingress"]) {
    all.push_back(one.contains("ip") ? one["ip"].get<std::string>() : one["hostname"].get<std::string>());
  }
  return all;
}

TEST(IngressStatus, HasTheAddressOfItsClassFromAPool) {
  World world;
  world.start({edit(kPool), edit(kOurs), edit(ingress("site", "edge")), edit(ingress("hosts", "edge", "a.example"))});
  auto statuses = world.desired_statuses();
  EXPECT_THAT(addresses(statuses, "site").value(), ElementsAre("192.0.2.8"));
  EXPECT_THAT(addresses(statuses, "hosts").value(), ElementsAre("192.0.2.8"));
  // Another block.
  world.apply({edit(shared_vip("public", {{"pool", Json::array({"192.0.2.9/32"})}}))});
  statuses = world.desired_statuses();
  EXPECT_THAT(addresses(statuses, "site").value(), ElementsAre("192.0.2.9"));
}

TEST(IngressStatus, HasTheAddressOfTheGatewayThatItsClassNames) {
  Json gateway = test::gateway();
  gateway["spec"]["vipRef"] = "edge-system/one";
  Json named = kOurs;
  named["spec"]["parameters"] = {{"apiGroup", "edgeproxy.io"},
                                 {"kind", "ProxyGateway"},
                                 {"name", "gw"},
                                 {"namespace", "shop"},
                                 {"scope", "Namespace"}};
  World world;
  world.start({edit(gateway), edit(shared_vip("one", {{"address", "192.0.2.30/24"}})), edit(named),
               edit(ingress("site", "edge"))});
  auto statuses = world.desired_statuses();
  EXPECT_THAT(addresses(statuses, "site").value(), ElementsAre("192.0.2.30"));
}

TEST(IngressStatus, OfAGatewayOnEveryAddressIsWhatIsPublished) {
  World world({}, NodeAddresses::kAllowed, {"203.0.113.1", "edge.example"});
  world.start({edit(kOurs), edit(ingress("site", "edge"))});
  auto statuses = world.desired_statuses();
  EXPECT_THAT(addresses(statuses, "site").value(), ElementsAre("203.0.113.1", "edge.example"));
}

/// What another controller has written there would be taken away, again and again.
TEST(IngressStatus, OfAnotherControllersIsLeftAlone) {
  World world({}, NodeAddresses::kAllowed, {"203.0.113.1"});
  world.start({edit(kPool), edit(kOurs), edit(kTheirs), edit(ingress("site", "edge")), edit(ingress("other", "theirs")),
               edit(ingress("nobodys", "none"))});
  auto statuses = world.desired_statuses();
  EXPECT_FALSE(addresses(statuses, "other"));
  EXPECT_FALSE(addresses(statuses, "nobodys"));
  EXPECT_TRUE(addresses(statuses, "site"));
  // It goes to the other one, which says where it is served.
  world.apply({edit(ingress("site", "theirs"))});
  statuses = world.desired_statuses();
  EXPECT_FALSE(addresses(statuses, "site"));
}

TEST(IngressStatus, OfACanaryIsThatOfItsClass) {
  Json canary = ingress("next", "edge", "a.example");
  canary["metadata"]["annotations"] = {{"edgeproxy.io/canary", "true"}, {"edgeproxy.io/canary-weight", "10"}};
  World world;
  world.start({edit(kPool), edit(kOurs), edit(ingress("site", "edge", "a.example")), edit(canary)});
  auto statuses = world.desired_statuses();
  EXPECT_THAT(addresses(statuses, "next").value(), ElementsAre("192.0.2.8"));
}

TEST(IngressStatus, IsEmptyWithoutAListener) {
  Json named = kOurs;
  named["spec"]["parameters"] = {{"apiGroup", "edgeproxy.io"},
                                 {"kind", "ProxyGateway"},
                                 {"name", "none"},
                                 {"namespace", "shop"},
                                 {"scope", "Namespace"}};
  World world({}, NodeAddresses::kAllowed, {"203.0.113.1"});
  world.start({edit(named), edit(ingress("site", "edge"))});
  auto statuses = world.desired_statuses();
  EXPECT_THAT(addresses(statuses, "site").value(), IsEmpty());
}

}  // namespace
}  // namespace edge::controller
