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
  const Json read = Json::parse(document);
  return read.value(list, Json::object()).value(key, "");
}

TEST(BodyMemory, CompilesTheValuesThatPoliciesName) {
  BodyMemory bodies;
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("wanted"));
  const std::string first = bodies.put(kMap, map_with("body", "secret"));
  EXPECT_EQ(value_in(first, "data", "wanted"), "body");
  EXPECT_EQ(value_in(first, "data", "other"), "");
  EXPECT_EQ(value_in(first, "data", "ca.crt"), "");
  EXPECT_EQ(value_in(first, "binaryData", "logo"), "");
  EXPECT_EQ(bodies.put(kMap, map_with("body", "another secret")), first) << "nothing that is compiled has changed";
  EXPECT_TRUE(bodies.take_changed().empty());
}

TEST(BodyMemory, GivesAMapAnewThatAPolicyNamesLater) {
  BodyMemory bodies;
  EXPECT_EQ(value_in(bodies.put(kMap, map_with("body", "x")), "data", "wanted"), "");
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("logo", "shop"));
  const auto changed = bodies.take_changed();
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(value_in(changed.at(kMap), "binaryData", "logo"), "AAEC");
  EXPECT_TRUE(bodies.take_changed().empty());
}

TEST(BodyMemory, KeepsWhatTheVersionInForceNames) {
  BodyMemory bodies;
  bodies.put(kMap, map_with("body", "x"));
  bodies.name_values(kPolicy, NamingVersion::kSound, naming("wanted"));
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("other"));
  const std::string both = bodies.take_changed().at(kMap);
  EXPECT_EQ(value_in(both, "data", "wanted"), "body");
  EXPECT_EQ(value_in(both, "data", "other"), "x");
  bodies.name_values(kPolicy, NamingVersion::kSound, naming("other"));
  EXPECT_EQ(value_in(bodies.take_changed().at(kMap), "data", "wanted"), "") << "no version names it any more";
}

TEST(BodyMemory, ForgetsWhatPoliciesNamed) {
  BodyMemory bodies;
  bodies.put(kMap, map_with("body", "x"));
  const std::size_t nobody = bodies.kept();
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("wanted"));
  bodies.name_values("ProxyPolicy shop/second", NamingVersion::kCurrent, naming("wanted"));
  EXPECT_LT(bodies.kept(), nobody);
  bodies.remove(kPolicy);
  EXPECT_EQ(value_in(bodies.take_changed().at(kMap), "data", "wanted"), "body") << "another policy names it";
  bodies.name_values("ProxyPolicy shop/second", NamingVersion::kCurrent, "{}");
  EXPECT_EQ(value_in(bodies.take_changed().at(kMap), "data", "wanted"), "");
  EXPECT_EQ(bodies.kept(), nobody);
  bodies.remove(kMap);
  EXPECT_EQ(bodies.kept(), 0u);
}

TEST(BodyMemory, IsBoundedAndSaysWhatItNeedsAgain) {
  constexpr std::size_t kBound = 10'000;
  BodyMemory bodies(kBound);
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("wanted"));
  bodies.put(kMap, map_with("body", std::string(4'000, 'o')));
  for (int i = 0; i < 50; ++i) {
    bodies.put("ConfigMap shop/m" + std::to_string(i), map_with(std::string(1'000, 'w'), std::string(1'000, 'o')));
    EXPECT_LE(bodies.kept(), kBound);
  }
  EXPECT_TRUE(bodies.take_wanted().empty()) << "nobody names what is gone";
  EXPECT_TRUE(bodies.take_changed().empty());
  // What is named stayed when the map's other values went.
  bodies.name_values(kPolicy, NamingVersion::kSound, naming("other"));
  const std::string without = bodies.take_changed().at(kMap);
  EXPECT_EQ(value_in(without, "data", "wanted"), "body");
  EXPECT_EQ(value_in(without, "unreadValues", "other"), "is being read again");
  EXPECT_THAT(bodies.take_wanted(), testing::ElementsAre(kMap));
  EXPECT_TRUE(bodies.take_wanted().empty());
  const std::string again = bodies.put(kMap, map_with("body", std::string(4'000, 'o')));
  EXPECT_EQ(value_in(again, "data", "other"), std::string(4'000, 'o'));
  EXPECT_EQ(value_in(again, "unreadValues", "other"), "");
  EXPECT_TRUE(bodies.take_wanted().empty());
  EXPECT_LE(bodies.kept(), kBound);
}

TEST(BodyMemory, WantsTheValuesOfAMapThatCameWithoutThem) {
  BodyMemory bodies;
  bodies.put(kMap, R"({"kind":"ConfigMap","data":{"ca.crt":"PEM"}})", /*values_dropped=*/true);
  EXPECT_TRUE(bodies.take_wanted().empty());
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("ca.crt"));
  EXPECT_TRUE(bodies.take_wanted().empty()) << "that one is there";
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("wanted"));
  EXPECT_THAT(bodies.take_wanted(), testing::ElementsAre(kMap));
  bodies.put(kMap, R"({"kind":"ConfigMap"})", /*values_dropped=*/true);
  EXPECT_THAT(bodies.take_wanted(), testing::ElementsAre(kMap)) << "another version came without them";
  EXPECT_TRUE(bodies.awaits_values(kPolicy));
  bodies.put(kMap, R"({"kind":"ConfigMap"})");
  EXPECT_TRUE(bodies.take_wanted().empty()) << "there is no such key";
  EXPECT_FALSE(bodies.awaits_values(kPolicy));
}

TEST(BodyMemory, KnowsWhatNamesListsAndAuthorities) {
  struct Row {
    const char *kind, *spec, *key;
  };
  constexpr Row kRows[] = {
      {"ProxyPolicy", R"({"ipAccess":{"allowLists":[{"file":"a"},{"configMapRef":{"name":"pages"}}]}})", "networks"},
      {"ProxyPolicy", R"({"ipAccess":{"denyLists":[{"configMapRef":{"name":"pages","namespace":"shop"}}]}})",
       "networks"},
      {"BackendTLSPolicy", R"({"validation":{"caCertificateRefs":[{"kind":"ConfigMap","name":"pages"}]}})", "ca.crt"},
      {"Gateway", R"({"tls":{"frontend":{"default":{"validation":{"caCertificateRefs":[{"name":"pages"}]}}}}})",
       "ca.crt"},
      {"Gateway",
       R"({"tls":{"frontend":{"perPort":[{"tls":{"validation":{"caCertificateRefs":[{"name":"pages"}]}}}]}}})",
       "ca.crt"},
  };
  const std::string map = R"({"kind":"ConfigMap","data":{"ca.crt":"x","networks":"x","other":"x"}})";
  for (const Row& row : kRows) {
    EXPECT_TRUE(BodyMemory::may_name(row.kind));
    BodyMemory values;
    values.name_values(std::string(row.kind) + " shop/a", NamingVersion::kCurrent,
                       std::string(R"({"metadata":{"namespace":"shop"},"spec":)") + row.spec + "}");
    const Json compiled = Json::parse(values.put(kMap, map));
    EXPECT_EQ(compiled["data"], Json({{row.key, "x"}})) << row.spec;
  }
  BodyMemory values;
  values.name_values("BackendTLSPolicy shop/a", NamingVersion::kCurrent,
                     R"({"metadata":{"namespace":"shop"},
                         "spec":{"validation":{"caCertificateRefs":[{"kind":"Secret","name":"pages"}]}}})");
  EXPECT_FALSE(Json::parse(values.put(kMap, map)).contains("data"));
  EXPECT_FALSE(BodyMemory::may_name("ProxyRoute"));
}

// A cluster has a ConfigMap with authorities in each namespace.
TEST(BodyMemory, ListsAndAuthoritiesThatNothingNamesAreBounded) {
  constexpr std::size_t kBound = 10'000;
  BodyMemory values(kBound);
  for (int i = 0; i < 100; ++i) {
    const std::string map = "ConfigMap n" + std::to_string(i) + "/kube-root-ca.crt";
    const std::string compiled = values.put(map, Json{{"data", {{"ca.crt", std::string(1'000, 'c')}}}}.dump());
    EXPECT_LT(compiled.size(), 10u);
    EXPECT_LE(values.kept(), kBound);
  }
}

TEST(BodyMemory, LeavesMapsOfOtherNamespacesAlone) {
  BodyMemory bodies;
  bodies.name_values(kPolicy, NamingVersion::kCurrent, naming("wanted", "elsewhere"));
  EXPECT_EQ(value_in(bodies.put(kMap, map_with("body", "x")), "data", "wanted"), "");
  EXPECT_EQ(value_in(bodies.put("ConfigMap elsewhere/pages", map_with("body", "x")), "data", "wanted"), "body");
}

TEST(BodyMemory, TakesAnything) {
  BodyMemory bodies;
  for (const char* text : {"", "[]", R"({"spec":{"configMapRef":[]}})",
                           R"({"spec":{"errorPages":{"pages":[7,{"configMapRef":{"name":7,"key":[]}}]}}})"}) {
    bodies.name_values(kPolicy, NamingVersion::kCurrent, text);
    const std::string put = bodies.put(kMap, text);
    if (!Json::accept(text)) {
      EXPECT_EQ(put, text);
    } else {
      EXPECT_EQ(Json::parse(put), Json::parse(text));
    }
  }
}

// ---- With the compiler ----------------------------------------------------------------------------------------------

using test::edit;
using test::object;
using test::removal;
using test::World;
using testing::HasSubstr;
using testing::Not;

ObjectEdit pages(const Json& data, const std::string& name = "pages") {
  Json made = object("ConfigMap", name, {});
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
  const auto forgotten = world.try_apply({pages({{"a", "fourth"}, {"b", "another"}})});
  EXPECT_FALSE(forgotten && forgotten->program_changed) << "nobody names it any more";
  EXPECT_FALSE(world.try_apply({pages({{"a", "fifth"}, {"b", "another"}})}));
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

/// More than is kept of what nobody names.
void fill(World& world) {
  Json large;
  for (int i = 0; i < 16; ++i) large["k" + std::to_string(i)] = std::string(65'000, 'x');
  for (std::size_t i = 0; i <= kMostKeptValues / 1'000'000; ++i) {
    world.try_apply({pages(large, "filler" + std::to_string(i))});
  }
}

ObjectEdit access(const Json& rule) {
  return edit(
      object("ProxyPolicy", "access",
             {{"type", "IPAccess"}, {"targetRef", {{"kind", "ProxyGateway"}, {"name", "gw"}}}, {"ipAccess", rule}}));
}

TEST(BodiesOfConfigMaps, AreReadAgainWhereTheyWereNotKept) {
  World world;
  world.start({pages({{"a", "first"}})});
  fill(world);
  EXPECT_TRUE(world.wanted().empty());
  world.apply({fixed("a")});
  EXPECT_THAT(world.tree(), HasSubstr("denied"));
  EXPECT_THAT(world.desired_statuses().at("ProxyPolicy shop/fixed").status, HasSubstr("cannot be used"));
  EXPECT_THAT(world.wanted(), testing::ElementsAre(ResourceId{"ConfigMap", "shop", "pages"}));
  world.apply({pages({{"a", "first"}})});
  EXPECT_THAT(world.tree(), HasSubstr("body first"));
  EXPECT_THAT(world.desired_statuses().at("ProxyPolicy shop/fixed").status, Not(HasSubstr("cannot be used")));
  EXPECT_TRUE(world.wanted().empty());
  World fresh;
  fresh.start({pages({{"a", "first"}}), fixed("a")});
  EXPECT_EQ(world.tree(), fresh.tree());
}

// The version in force stays until then, though what the new one names is not there for the moment.
TEST(BodiesOfConfigMaps, AreAwaitedByAnEditThatNamesOneThatWasNotKept) {
  const Json values = {{"a", "first"}, {"b", "second"}, {"networks", "10.0.0.0/8"}};
  const Json listed = {{"allowLists", {{{"configMapRef", {{"name", "pages"}}}}}}};
  World world;
  world.start({pages(values), fixed("b"), access({{"allow", {"192.0.2.0/24"}}})});
  fill(world);
  const std::string before = world.tree();
  EXPECT_THAT(before, HasSubstr("body second"));
  world.apply({access(listed)});
  world.apply({fixed("a")});
  EXPECT_EQ(world.tree(), before);
  EXPECT_THAT(world.desired_statuses().at("ProxyPolicy shop/access").status, Not(HasSubstr("cannot be used")));
  EXPECT_THAT(world.wanted(), testing::ElementsAre(ResourceId{"ConfigMap", "shop", "pages"}));
  world.apply({pages(values)});
  World fresh;
  fresh.start({pages(values), fixed("a"), access(listed)});
  EXPECT_EQ(world.tree(), fresh.tree());
  EXPECT_THAT(world.tree(), HasSubstr("body first"));
}

TEST(BodiesOfConfigMaps, AreAwaitedByTheLastEditAlone) {
  World world;
  world.start({pages({{"a", "first"}, {"b", "second"}}), fixed("b")});
  fill(world);
  world.apply({fixed("a")});
  EXPECT_THAT(world.tree(), HasSubstr("body second"));
  world.apply({fixed("b", 404)});
  EXPECT_THAT(world.tree(), HasSubstr("404"));
  world.apply({fixed("a")});
  EXPECT_THAT(world.tree(), HasSubstr("404"));
  world.apply({removal("ProxyPolicy", "fixed")});
  const auto again = world.try_apply({pages({{"a", "first"}, {"b", "second"}})});
  EXPECT_FALSE(again && again->program_changed) << "it is gone";
}

}  // namespace
}  // namespace edge::controller
