// What is said of routes and Ingresses that nobody serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/reconcile/test_cluster.h"

namespace edge::controller {
namespace {

using test::edit;
using test::Json;
using test::kClass;
using test::object;
using test::route;
using test::World;
using testing::AllOf;
using testing::HasSubstr;

TEST(UnservedRoutes, ARouteWhoseGatewayIsNotThereIsToldSo) {
  World world;
  world.start({edit(route("cart", "/cart", 1, {{"parentRefs", {{{"name", "nowhere"}}}}}))});
  const DesiredStatus desired = world.desired_statuses().at("ProxyRoute shop/cart");
  EXPECT_THAT(desired.status, AllOf(HasSubstr("\"type\":\"Accepted\""), HasSubstr("nowhere")));
  EXPECT_THAT(desired.rejection, HasSubstr("nowhere"));
}

TEST(UnservedRoutes, ARouteOfGatewayApiWithoutItsGatewayIsToldByAnEvent) {
  Json http = object("HTTPRoute", "web", {{"parentRefs", {{{"name", "nowhere"}}}}, {"rules", Json::array()}});
  http["apiVersion"] = "gateway.networking.k8s.io/v1";
  World world;
  world.start({edit(http)});
  const DesiredStatus desired = world.desired_statuses().at("HTTPRoute shop/web");
  EXPECT_EQ(desired.rejection, "NoMatchingParent: there is no Gateway shop/nowhere");
  EXPECT_TRUE(desired.told_by_event);
}

Json ingress(const char* class_name) {
  Json made =
      object("Ingress", "web", {{"defaultBackend", {{"service", {{"name", "be"}, {"port", {{"number", 80}}}}}}}});
  made["apiVersion"] = "networking.k8s.io/v1";
  if (class_name != nullptr) made["spec"]["ingressClassName"] = class_name;
  return made;
}

Json ingress_class(const char* controller) {
  Json made = object("IngressClass", "edge", {{"controller", controller}});
  made["apiVersion"] = "networking.k8s.io/v1";
  made["metadata"].erase("namespace");
  return made;
}

TEST(UnservedRoutes, AnIngressThatNobodyServesIsToldByAnEvent) {
  World world;
  world.start({edit(ingress("edge"))});
  DesiredStatus desired = world.desired_statuses().at("Ingress shop/web");
  EXPECT_EQ(desired.rejection, "NotServed: there is no IngressClass `edge`; the Ingress is not served");
  EXPECT_TRUE(desired.told_by_event);
  // Of another controller's nothing is said.
  world.apply({edit(ingress_class("example.com/other"))});
  EXPECT_EQ(world.desired_statuses().at("Ingress shop/web").rejection, "");
  world.apply({edit(ingress(nullptr))});
  EXPECT_EQ(world.desired_statuses().at("Ingress shop/web").rejection,
            "NotServed: the Ingress names no class and no IngressClass is the default; it is not served");
  world.apply({edit(ingress_class(kClass)), edit(ingress("edge"))});
  EXPECT_EQ(world.desired_statuses().at("Ingress shop/web").rejection, "");
}

}  // namespace
}  // namespace edge::controller
