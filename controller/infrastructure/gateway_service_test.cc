#include "controller/infrastructure/gateway_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::controller {
namespace {

using Json = nlohmann::json;
using testing::SizeIs;

GatewayService service() {
  return {.gateway = {"Gateway", "shop", "web"},
          .uid = "u1",
          .class_name = "edge",
          .controller = "edgeproxy.io/proxy",
          .labels = {{"team", "shop"}},
          .annotations = {{"note", "n"}},
          .ports = {{53, true}, {80, false}},
          .addresses = {*parse_ip("192.0.2.7"), *parse_ip("127.0.0.1"), *parse_ip("2001:db8::7")}};
}

/// As the server has it, with its own additions.
Json stored(const MadeObject& made, const std::string& version) {
  Json object = Json::parse(made.text);
  object["metadata"]["resourceVersion"] = version;
  object["metadata"]["uid"] = "u2";
  return object;
}

TEST(GatewayService, IsNamedByGatewayAndClass) {
  EXPECT_EQ(service_name("web", "edge"), "web-edge");
  for (const std::string& gateway : {std::string("web.example"), std::string("9"), std::string(200, 'x')}) {
    const std::string name = service_name(gateway, "edge");
    EXPECT_THAT(name, testing::MatchesRegex("[a-z][-a-z0-9]*[a-z0-9]"));
    EXPECT_LE(name.size(), 58U);
    EXPECT_NE(name, service_name(gateway + "x", "edge"));
  }
}

TEST(GatewayService, HasWhatTheInfrastructureSaysAndTheAddressesAsEndpoints) {
  const auto made = objects_of(service());
  ASSERT_THAT(made, SizeIs(3));
  const Json object = Json::parse(made[0].text);
  EXPECT_EQ(made[0].key, (ResourceId{"Service", "shop", "web-edge"}));
  EXPECT_EQ(object["metadata"]["labels"]["team"], "shop");
  EXPECT_EQ(object["metadata"]["labels"][std::string(kGatewayNameLabel)], "web");
  EXPECT_EQ(object["metadata"]["annotations"]["note"], "n");
  EXPECT_EQ(object["metadata"]["ownerReferences"][0]["uid"], "u1");
  EXPECT_FALSE(object["spec"].contains("selector"));
  EXPECT_EQ(object["spec"]["ports"][0]["protocol"], "UDP");
  EXPECT_EQ(object["spec"]["ports"][1]["name"], "tcp-80");
  const Json v4 = Json::parse(made[1].text);
  EXPECT_EQ(v4["metadata"]["labels"]["kubernetes.io/service-name"], "web-edge");
  ASSERT_THAT(v4["endpoints"], SizeIs(1)) << "nobody reaches a loopback address";
  EXPECT_EQ(v4["endpoints"][0]["addresses"][0], "192.0.2.7");
  EXPECT_EQ(Json::parse(made[2].text)["endpoints"][0]["addresses"][0], "2001:db8::7");
}

TEST(GatewayService, LabelsOfItsOwnAreNotTheInfrastructures) {
  GatewayService taken = service();
  taken.labels[std::string(kGatewayNameLabel)] = "another";
  taken.annotations["edgeproxy.io/controller"] = "another";
  const auto made = objects_of(taken);
  EXPECT_EQ(made_for(made[0].text).gateway, "web");
  EXPECT_EQ(made_for(made[0].text).controller, "edgeproxy.io/proxy");
}

TEST(GatewayService, WithoutAListenerThereAreNoEndpoints) {
  GatewayService closed = service();
  closed.ports.clear();
  const auto made = objects_of(closed);
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_EQ(made[0].text, "");
}

TEST(GatewayService, AServersAdditionsAreNoDifference) {
  const auto made = objects_of(service());
  Json present = stored(made[0], "7");
  present["spec"]["clusterIP"] = "10.0.0.1";
  present["spec"]["ports"][0]["nodePort"] = 30000;
  present["metadata"]["labels"]["of-somebody-else"] = "x";
  EXPECT_EQ(patch_of(present.dump(), made[0].text), "");
}

TEST(GatewayService, APatchTakesAwayWhatTheInfrastructureGaveAndNothingElse) {
  const auto before = objects_of(service());
  Json present = stored(before[0], "7");
  present["metadata"]["labels"]["of-somebody-else"] = "x";
  GatewayService after = service();
  after.labels = {{"tier", "front"}};
  after.ports = {{443, false}};
  const Json patch = Json::parse(patch_of(present.dump(), objects_of(after)[0].text));
  EXPECT_EQ(patch["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(patch["metadata"]["labels"]["tier"], "front");
  EXPECT_TRUE(patch["metadata"]["labels"]["team"].is_null());
  EXPECT_FALSE(patch["metadata"]["labels"].contains("of-somebody-else"));
  EXPECT_THAT(patch["spec"]["ports"], SizeIs(1));
  present.merge_patch(patch);
  EXPECT_EQ(patch_of(present.dump(), objects_of(after)[0].text), "");
}

TEST(GatewayService, WhatIsNoObjectIsNobodys) {
  for (const char* text : {"", "[]", R"("gateway.networking.k8s.io/gateway-name")",
                           R"({"metadata":{"labels":{"gateway.networking.k8s.io/gateway-name":7}}})"}) {
    EXPECT_EQ(made_for(text).gateway, "") << text;
    EXPECT_EQ(patch_of(text, "{}"), "") << text;
  }
}

}  // namespace
}  // namespace edge::controller
