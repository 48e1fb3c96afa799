#include "controller/reconcile/body_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/reconcile/test_cluster.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

constexpr const char* kMap = "ConfigMap shop/pages";
constexpr const char* kPolicy = "ProxyPolicy shop/errors";

std::string map_with(const std::string& wanted, const std::string& other) {
  return Json{{"kind", "ConfigMap"},
              {"data", {{"wanted", wanted}, {"other", other}, {"ca.crt", "PEM"}}},
              {"binaryData", {{"logo", "AAEC"}}}}
      .dump();
}

std::string naming(const std::string& key, const std::string& space = "") {
  Json reference = {{"name", "pages"}, {"key", key}};
  if (!space.empty()) reference["namespace"] = space;
  return Json{{"metadata", {{"namespace", "shop"}, {"name", "errors"}}},
              {"spec", {{"errorPages", {{"pages", {{{"configMapRef", reference}}}}}}}}}
      .dump();
}

std::string value_in(const std::string& document, const char* list, const char* key) {
  return Json::parse(document)[list][key].get<std::string>();
}

TEST(BodyMemory, CompilesTheValuesThatPoliciesName) {
  BodyMemory bodies;
  bodies.name_bodies(kPolicy, naming("wanted"));
  const std::string first = bodies.put(kMap, map_with("body", "secret"));
  EXPECT_EQ(value_in(first, "data", "wanted"), "body");
  EXPECT_EQ(value_in(first, "data", "other"), "");
  EXPECT_EQ(value_in(first, "data", "ca.crt"), "PEM");
  EXPECT_EQ(value_in(first, "binaryData", "logo"), "");
  EXPECT_EQ(bodies.put(kMap, map_with("body", "another secret")), first) << "nothing that is compiled has changed";
  EXPECT_TRUE(bodies.take_changed().empty());
}

TEST(BodyMemory, GivesAMapAnewThatAPolicyNamesLater) {
  BodyMemory bodies;
  EXPECT_EQ(value_in(bodies.put(kMap, map_with("body", "x")), "data", "wanted"), "");
  bodies.name_bodies(kPolicy, naming("logo", "shop"));
  const auto changed = bodies.take_changed();
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(value_in(changed.at(kMap), "binaryData", "logo"), "AAEC");
  EXPECT_TRUE(bodies.take_changed().empty());
}

TEST(BodyMemory, KeepsWhatAnOlderVersionOfThePolicyNames) {
  BodyMemory bodies;
  bodies.put(kMap, map_with("body", "x"));
  bodies.name_bodies(kPolicy, naming("wanted"));
  bodies.name_bodies(kPolicy, naming("other"));
  EXPECT_EQ(value_in(bodies.take_changed().at(kMap), "data", "wanted"), "body");
  bodies.name_bodies("ProxyPolicy shop/second", naming("wanted"));
  bodies.remove(kPolicy);
  const std::string left = bodies.take_changed().at(kMap);
  EXPECT_EQ(value_in(left, "data", "wanted"), "body") << "another policy names it";
  EXPECT_EQ(value_in(left, "data", "other"), "");
}

TEST(BodyMemory, LeavesMapsOfOtherNamespacesAlone) {
  BodyMemory bodies;
  bodies.name_bodies(kPolicy, naming("wanted", "elsewhere"));
  EXPECT_EQ(value_in(bodies.put(kMap, map_with("body", "x")), "data", "wanted"), "");
  EXPECT_EQ(value_in(bodies.put("ConfigMap elsewhere/pages", map_with("body", "x")), "data", "wanted"), "body");
}

TEST(BodyMemory, TakesAnything) {
  BodyMemory bodies;
  for (const char* text : {"", "[]", R"({"spec":{"configMapRef":[]}})",
                           R"({"spec":{"errorPages":{"pages":[7,{"configMapRef":{"name":7,"key":[]}}]}}})"}) {
    bodies.name_bodies(kPolicy, text);
    EXPECT_EQ(Json::parse(bodies.put(kMap, text), nullptr, false), Json::parse(text, nullptr, false));
  }
}

// ---- With the compiler ----------------------------------------------------------------------------------------------

using test::edit;
using test::object;
using test::removal;
using test::World;
using testing::HasSubstr;
using testing::Not;

ObjectEdit pages(const Json& data) {
  Json made = object("ConfigMap", "pages", {});
  made["apiVersion"] = "v1";
  made.erase("spec");
  made["data"] = data;
  return edit(made);
}

ObjectEdit fixed(const std::string& key, int status = 200) {
  return edit(
      object("ProxyPolicy", "fixed",
             {{"type", "FixedResponse"},
              {"targetRef", {{"kind", "ProxyGateway"}, {"name", "gw"}}},
              {"fixedResponse", {{"statusCode", status}, {"configMapRef", {{"name", "pages"}, {"key", key}}}}}}));
}

TEST(BodiesOfConfigMaps, AreCompiledWhenTheyAreNamedAndWhenTheyChange) {
  World world;
  world.start({pages({{"a", "first"}, {"b", "other"}})});
  EXPECT_FALSE(world.try_apply({pages({{"a", "second"}, {"b", "other"}})})) << "nobody names it";
  world.apply({fixed("a")});
  EXPECT_THAT(world.tree(), HasSubstr("body second"));
  EXPECT_FALSE(world.try_apply({pages({{"a", "second"}, {"b", "another"}})})) << "nobody names this value";
  world.apply({pages({{"a", "third"}, {"b", "another"}})});
  EXPECT_THAT(world.tree(), HasSubstr("body third"));
  world.apply({fixed("b")});
  EXPECT_THAT(world.tree(), HasSubstr("body another"));
}

TEST(BodiesOfConfigMaps, ComeInAnyOrder) {
  World world;
  world.start({fixed("a")});
  EXPECT_THAT(world.tree(), HasSubstr("denied"));
  auto statuses = world.desired_statuses();
  EXPECT_THAT(statuses.at("ProxyPolicy shop/fixed").status, HasSubstr("the ConfigMap `pages` cannot be used"));
  world.apply({pages({{"a", "late"}})});
  EXPECT_THAT(world.tree(), HasSubstr("body late"));
  EXPECT_THAT(world.tree(), Not(HasSubstr("denied")));
  EXPECT_THAT(world.desired_statuses().at("ProxyPolicy shop/fixed").status, Not(HasSubstr("cannot be used")));
  world.apply({removal("ConfigMap", "pages")});
  EXPECT_THAT(world.tree(), HasSubstr("denied"));
  // Both at once, the ConfigMap before the policy that names it.
  World together;
  together.start({pages({{"a", "same"}}), fixed("a")});
  EXPECT_THAT(together.tree(), HasSubstr("body same"));
}

TEST(BodiesOfConfigMaps, StayWithTheVersionThatIsInForce) {
  World world;
  world.start({pages({{"a", "first"}, {"b", "other"}}), fixed("a")});
  // No status is 999, and this version names another value.
  world.apply({fixed("b", 999)});
  EXPECT_THAT(world.tree(), HasSubstr("body first"));
  world.apply({pages({{"a", "second"}, {"b", "other"}})});
  EXPECT_THAT(world.tree(), HasSubstr("body second"));
}

TEST(BodiesOfConfigMaps, AreBounded) {
  World world;
  world.start({pages({{"a", std::string(65'536, 'x')}}), fixed("a")});
  EXPECT_THAT(world.tree(), HasSubstr("body 65536 bytes, SHA-256 "));
  world.apply({pages({{"a", std::string(200'000, 'x')}})});
  EXPECT_THAT(world.tree(), HasSubstr("denied"));
}

}  // namespace
}  // namespace edge::controller
