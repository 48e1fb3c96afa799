#include "edgectl/resources/describe.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

const std::int64_t kToday = parse_timestamp("2026-03-01T12:00:00Z").value_or(0);

TEST(Describe, TellsSpecConditionsAndEvents) {
  const Json route = Json::parse(R"({
    "apiVersion":"edgeproxy.io/v1alpha1","kind":"ProxyRoute",
    "metadata":{"name":"cart","namespace":"shop","generation":2,"creationTimestamp":"2026-03-01T11:00:00Z",
      "labels":{"app":"cart","tier":"web"},
      "annotations":{"note":"x","kubectl.kubernetes.io/last-applied-configuration":"{}"}},
    "spec":{"hostnames":["a.example"],"rules":[{"backendRef":{"name":"cart"}}]},
    "status":{"ruleCount":1,"conditions":[
      {"type":"Ready","status":"False","reason":"BackendNotFound","message":"there is no backend `cart`",
       "lastTransitionTime":"2026-03-01T11:59:00Z"}]}})");
  const Json late = Json::parse(R"({"type":"Warning","reason":"Refused","message":"no backend","count":3,
    "lastTimestamp":"2026-03-01T11:59:30Z","source":{"component":"edge-controller"}})");
  const Json early = Json::parse(R"({"type":"Normal","reason":"Accepted","message":"fine",
    "eventTime":"2026-03-01T11:30:00.000000Z","reportingComponent":"edge-controller"})");
  EXPECT_EQ(describe(route, {late, early}, kToday), R"(Name:          cart
Namespace:     shop
Labels:        app=cart
               tier=web
Annotations:   note: x
API Version:   edgeproxy.io/v1alpha1
Kind:          ProxyRoute
Age:           60m
Generation:    2
Spec:
  hostnames:
  - a.example
  rules:
  - backendRef:
      name: cart
Status:
  ruleCount: 1
Conditions:
  TYPE    STATUS   REASON            AGE   MESSAGE
  Ready   False    BackendNotFound   60s   there is no backend `cart`
Events:
  TYPE      REASON     AGE        FROM              MESSAGE
  Normal    Accepted   30m        edge-controller   fine
  Warning   Refused    30s (x3)   edge-controller   no backend
)");
}

TEST(Describe, TellsOfSecretsNoMoreThanTheirSize) {
  const Json secret = Json::parse(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"type":"Opaque","data":{"key":"c2VjcmV0"}})");
  const std::string text = describe(secret, {}, kToday);
  EXPECT_NE(text.find("key:  6 bytes"), std::string::npos);
  EXPECT_EQ(text.find("c2VjcmV0"), std::string::npos);
  EXPECT_NE(text.find("Events: <none>"), std::string::npos);
}

TEST(Describe, AsDataHasSizesOfSecretsAndNoCopyOfTheObject) {
  const Json secret = Json::parse(
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","annotations":{"note":"x",
      "kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"key\":\"c2VjcmV0\"}}"}},"data":{"key":"c2VjcmV0"}})");
  const Json reported = description(secret, {Json::parse(R"({"reason":"Made"})")});
  EXPECT_EQ(reported["object"]["data"]["key"], "6 bytes");
  EXPECT_EQ(reported["object"]["metadata"]["annotations"]["note"], "x");
  EXPECT_EQ(reported["events"][0]["reason"], "Made");
  EXPECT_EQ(reported.dump().find("c2VjcmV0"), std::string::npos);
}

TEST(Describe, TellsConditionsOfListenersAndParents) {
  const Json gateway = Json::parse(R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway",
    "metadata":{"name":"g"},"spec":{},
    "status":{"listeners":[{"name":"http","attachedRoutes":1,"conditions":[{"type":"Programmed","status":"True"}]}],
      "parents":[{"gateway":"shop/edge","conditions":[]},{"parentRef":{"name":"p","sectionName":"s"},"conditions":[]}]}})");
  const std::string text = describe(gateway, {}, kToday);
  EXPECT_NE(text.find("Conditions of listener http:\n  TYPE"), std::string::npos) << text;
  EXPECT_NE(text.find("Conditions of parent shop/edge: <none>"), std::string::npos) << text;
  EXPECT_NE(text.find("Conditions of parent p/s: <none>"), std::string::npos) << text;
  EXPECT_NE(text.find("attachedRoutes: 1"), std::string::npos) << text;
}

TEST(Describe, TakesWhateverAServerSends) {
  for (const char* odd : {"{}", R"({"metadata":5,"status":[1],"spec":"x"})", R"({"status":{"conditions":[1,{}]}})",
                          R"({"metadata":{"labels":[1],"name":7}})"}) {
    EXPECT_FALSE(describe(Json::parse(odd), {Json::parse(odd), Json()}, kToday).empty()) << odd;
    EXPECT_EQ(description(Json::parse(odd), {}).size(), 2u) << odd;
  }
}

}  // namespace
}  // namespace edge::edgectl
