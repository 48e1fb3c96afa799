#include "edgectl/web/api/views/policy_cover.h"

#include <map>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/web/api/test_store.h"
#include "schemas/describe.h"
#include "schemas/schema.h"

namespace edge::edgectl::web {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Json = nlohmann::ordered_json;

std::string policy(const std::string& name, const std::string& type, const std::string& kind, const std::string& target,
                   const std::string& created = "2026-01-01T00:00:00Z") {
  return R"({"kind":"ProxyPolicy","metadata":{"namespace":"shop","name":")" + name + R"(","creationTimestamp":")" +
         created + R"("},"spec":{"type":")" + type + R"(","targetRef":{"kind":")" + kind + R"(","name":")" + target +
         R"("}}})";
}

std::string route(const std::string& name, const std::string& gateways) {
  return R"({"kind":"ProxyRoute","metadata":{"namespace":"shop","name":")" + name + R"("},"spec":{"parentRefs":)" +
         gateways + R"(,"rules":[]}})";
}

class PolicyCover : public testing::Test {
 protected:
  /// `type from name gateway` of a route, and whether it is guarded.
  std::pair<std::vector<std::string>, bool> of(const std::string& name) {
    const Json cover = policy_cover_json(store_.view());
    for (const Json& row : cover["routes"]) {
      if (row["name"] != name) continue;
      std::vector<std::string> texts;
      for (const Json& one : row["policies"]) {
        texts.push_back(one["type"].get<std::string>() + " " + one["from"].get<std::string>() + " " +
                        one["name"].get<std::string>() + " " + one["gateway"].get<std::string>());
      }
      return {texts, row["guarded"].get<bool>()};
    }
    return {{"no such route"}, false};
  }

  TestStore store_;
};

TEST_F(PolicyCover, OfATypeTheRoutesOwnReplacesThatOfTheGateway) {
  store_.add(route("cart", R"([{"name":"web"}])"));
  store_.add(route("open", R"([{"name":"web"}])"));
  store_.add(policy("gateway-rate", "RateLimit", "ProxyGateway", "web"));
  store_.add(policy("gateway-cors", "CORS", "ProxyGateway", "web"));
  store_.add(policy("cart-rate", "RateLimit", "ProxyRoute", "cart"));
  store_.add(policy("cart-login", "BasicAuth", "ProxyRoute", "cart"));
  const auto cart = of("cart");
  EXPECT_THAT(cart.first, UnorderedElementsAre("RateLimit route cart-rate ", "BasicAuth route cart-login ",
                                               "CORS gateway gateway-cors shop/web"));
  EXPECT_TRUE(cart.second);
  EXPECT_FALSE(of("open").second);
}

// A new type is said of here: whether it decides who may pass.
TEST_F(PolicyCover, OfEachTypeItIsKnownWhetherItGuards) {
  const std::map<std::string_view, bool> guards = {{"BasicAuth", true},     {"ForwardAuth", true},
                                                   {"OIDC", true},          {"JWT", true},
                                                   {"IPAccess", true},      {"APIKey", true},
                                                   {"RateLimit", false},    {"ClientCertificate", true},
                                                   {"CORS", false},         {"SecurityHeaders", false},
                                                   {"Maintenance", false},  {"FixedResponse", false},
                                                   {"ErrorPages", false},   {"ConcurrencyLimit", false},
                                                   {"RequestFilter", false}};
  const schemas::Field* types = schemas::find_field(*schemas::find_kind("ProxyPolicy"), "spec.type");
  ASSERT_NE(types, nullptr);
  for (const std::string_view type : types->values) {
    const std::string name = "r-" + std::string(type);
    store_.add(route(name, R"([{"name":"web"}])"));
    store_.add(policy("p-" + name, std::string(type), "ProxyRoute", name));
    ASSERT_TRUE(guards.contains(type)) << type << " is new: does it decide who may pass?";
    EXPECT_EQ(of(name).second, guards.at(type)) << type;
  }
}

TEST_F(PolicyCover, OfTwoForOneTargetTheOlderApplies) {
  store_.add(route("cart", R"([{"name":"web"}])"));
  store_.add(policy("a-younger", "JWT", "ProxyRoute", "cart", "2026-02-01T00:00:00Z"));
  store_.add(policy("b-older", "JWT", "ProxyRoute", "cart", "2026-01-01T00:00:00Z"));
  EXPECT_THAT(of("cart").first, ElementsAre("JWT route b-older "));
  const Json cover = policy_cover_json(store_.view());
  for (const Json& one : cover["policies"]) EXPECT_EQ(one["routes"], one["name"] == "b-older" ? 1 : 0);
}

TEST_F(PolicyCover, ARouteIsGuardedOnlyWhereEachOfItsGatewaysChecks) {
  store_.add(route("both", R"([{"name":"web"},{"name":"inner"}])"));
  store_.add(policy("login", "OIDC", "ProxyGateway", "web"));
  EXPECT_FALSE(of("both").second);
  store_.add(policy("offices", "IPAccess", "ProxyGateway", "inner"));
  EXPECT_TRUE(of("both").second);
}

TEST_F(PolicyCover, FiltersOfAnHttpRouteCount) {
  const auto http = [](const std::string& rules) {
    return R"({"kind":"HTTPRoute","metadata":{"namespace":"shop","name":"api"},"spec":{"parentRefs":[{"name":"gw"}],"rules":)" +
           rules + "}}";
  };
  store_.add(http(R"([{"filters":[{"type":"ExternalAuth"}]},{"filters":[{"type":"CORS"}]}])"));
  EXPECT_THAT(of("api").first, ElementsAre("CORS rule  ", "ExternalAuth rule  "));
  EXPECT_FALSE(of("api").second);
  store_.add(http(R"([{"filters":[{"type":"ExternalAuth"}]}])"));
  EXPECT_TRUE(of("api").second);
}

TEST_F(PolicyCover, APolicyWithoutTargetAppliesToTheRulesThatNameIt) {
  store_.add(R"({"kind":"ProxyPolicy","metadata":{"namespace":"shop","name":"tokens"},"spec":{"type":"JWT"}})");
  store_.add(
      R"({"kind":"HTTPRoute","metadata":{"namespace":"shop","name":"api"},"spec":{"parentRefs":[{"name":"gw"}],"rules":)"
      R"([{"filters":[{"type":"ExtensionRef","extensionRef":{"kind":"ProxyPolicy","name":"tokens"}}]}]}})");
  EXPECT_THAT(of("api").first, ElementsAre("JWT rule tokens "));
  EXPECT_TRUE(of("api").second);
  const Json policy = policy_cover_json(store_.view())["policies"][0];
  EXPECT_EQ(policy["target"]["kind"], "");
  EXPECT_EQ(policy["routes"], 1);
}

TEST_F(PolicyCover, PartsOfTargetsAreTold) {
  store_.add(
      R"({"kind":"ProxyPolicy","metadata":{"namespace":"shop","name":"few"},"spec":{"type":"RateLimit","targetRefs":)"
      R"([{"kind":"ProxyGateway","name":"web","sectionName":"inside"},{"kind":"ProxyGateway","name":"web"}]}})");
  const Json policies = policy_cover_json(store_.view())["policies"];
  ASSERT_EQ(policies.size(), 2U);
  EXPECT_EQ(policies[0]["target"]["section"], "inside");
  EXPECT_EQ(policies[1]["target"]["section"], "");
}

TEST_F(PolicyCover, TargetsThatDoNotExistAreTold) {
  store_.add(policy("lost", "CORS", "ProxyRoute", "nothing"));
  EXPECT_EQ(policy_cover_json(store_.view())["policies"][0]["target"]["known"], false);
  Visible visible;
  visible.allow(*schemas::find_kind("ProxyPolicy"));
  EXPECT_TRUE(policy_cover_json(store_.view(visible))["policies"][0]["target"]["known"].is_null());
}

}  // namespace
}  // namespace edge::edgectl::web
