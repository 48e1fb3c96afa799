#include "controller/resource_api/objects/apply.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/field_set.h"
#include "controller/resource_api/objects/schema_parts.h"

namespace edge::resource_api::objects {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A kind with every shape of field.
const Schema& kind() {
  static const SchemaPtr kKind = [] {
    Causes causes;
    SchemaPtr schema = compile_schema(Json::parse(R"({"type":"object","properties":{
      "spec":{"type":"object","properties":{
        "replicas":{"type":"integer"},"image":{"type":"string"},
        "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],"items":{"type":"object",
          "required":["port"],"properties":{"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"},"name":{"type":"string"}}}},
        "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
        "args":{"type":"array","items":{"type":"string"}},
        "map":{"type":"object","additionalProperties":{"type":"string"}},
        "whole":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"a":{"type":"string"},"b":{"type":"string"}}},
        "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
      "status":{"type":"object","properties":{"phase":{"type":"string"}}}}})"),
                                      "", causes);
    EXPECT_TRUE(causes.empty());
    return schema;
  }();
  return *kKind;
}

/// An object that several managers write to.
class World {
 public:
  std::string apply(const std::string& manager, std::string_view spec, bool force = false) {
    Json intent = {{"apiVersion", "e.com/v1"}, {"kind", "K"}, {"metadata", {{"name", "n"}}}};
    intent["spec"] = Json::parse(spec);
    return apply_object(manager, intent, force);
  }
  std::string apply_object(const std::string& manager, const Json& intent, bool force) {
    Answer<Applied> done = objects::apply(kind(), live_ ? &*live_ : nullptr, intent, writer(manager), force);
    if (!done) return done.error().message;
    changed_ = done->changed;
    live_ = std::move(*done->object);
    return {};
  }
  void update(const std::string& manager, std::string_view spec, const std::string& subresource = "") {
    Json object = live_.value_or(Json{{"apiVersion", "e.com/v1"}, {"kind", "K"}, {"metadata", {{"name", "n"}}}});
    object[subresource.empty() ? "spec" : subresource] = Json::parse(spec);
    Writer who = writer(manager);
    who.subresource = subresource;
    track(kind(), live_ ? &*live_ : nullptr, object, who);
    live_ = std::move(object);
  }
  std::string spec() const { return live_->contains("spec") ? (*live_)["spec"].dump() : "none"; }
  /// `manager Apply .spec.a .spec.b` of each.
  std::vector<std::string> owners() const {
    std::vector<std::string> lines;
    if (!(*live_)["metadata"].contains("managedFields")) return lines;
    for (const Json& entry : (*live_)["metadata"]["managedFields"]) {
      std::string line = entry["manager"].get<std::string>() + " " + entry["operation"].get<std::string>();
      if (entry.contains("subresource")) line += " " + entry["subresource"].get<std::string>();
      const Answer<FieldSet> set = FieldSet::parse(entry["fieldsV1"]);
      EXPECT_TRUE(set.ok());
      EXPECT_EQ(set->to_json(), entry["fieldsV1"]) << "the set comes back as it was";
      set->each([&](const std::string& path) { line += " " + path; });
      lines.push_back(line);
    }
    return lines;
  }
  Json& live() { return *live_; }
  bool changed() const { return changed_; }

 private:
  Writer writer(const std::string& manager) {
    return {.manager = manager,
            .api_version = "e.com/v1",
            .time = "2024-01-01T00:00:" + std::to_string(10 + clock_++) + "Z",
            .subresource = "",
            .has_status = true};
  }

  std::optional<Json> live_;
  bool changed_ = false;
  int clock_ = 0;
};

TEST(Apply, OwnsWhatItSays) {
  World world;
  EXPECT_EQ(
      world.apply(
          "a",
          R"({"replicas":1,"ports":[{"port":80}],"tags":["x"],"args":["1"],"map":{"k":"v"},"whole":{"a":"1"},"free":{"deep":{"er":1}}})"),
      "");
  EXPECT_THAT(
      world.owners(),
      ElementsAre("a Apply .spec.args .spec.free.deep .spec.free.deep.er .spec.map.k "
                  ".spec.ports[port=80,protocol=\"TCP\"] .spec.ports[port=80,protocol=\"TCP\"].port .spec.replicas "
                  ".spec.tags[=\"x\"] .spec.whole"));
  EXPECT_TRUE(world.changed());
  EXPECT_EQ(
      world.apply(
          "a",
          R"({"replicas":1,"ports":[{"port":80}],"tags":["x"],"args":["1"],"map":{"k":"v"},"whole":{"a":"1"},"free":{"deep":{"er":1}}})"),
      "");
  EXPECT_FALSE(world.changed());
}

TEST(Apply, ConflictsNameManagerAndField) {
  World world;
  EXPECT_EQ(world.apply("a", R"({"replicas":1})"), "");
  EXPECT_EQ(world.apply("b", R"({"replicas":2})"), "Apply failed with 1 conflict: conflict with \"a\": .spec.replicas");
  EXPECT_EQ(world.apply("b", R"({"replicas":1})"), "") << "the same value is shared";
  EXPECT_THAT(world.owners(), ElementsAre("a Apply .spec.replicas", "b Apply .spec.replicas"));
  EXPECT_EQ(world.apply("b", R"({"replicas":2})", true), "");
  EXPECT_THAT(world.owners(), ElementsAre("b Apply .spec.replicas"));
  world.update("edit", R"({"replicas":3,"image":"i"})");
  EXPECT_THAT(world.owners(), ElementsAre("edit Update .spec.image .spec.replicas"));
  EXPECT_EQ(world.apply("b", R"({"replicas":2,"image":"j"})"),
            "Apply failed with 2 conflicts: conflicts with \"edit\" using e.com/v1:\n- .spec.image\n- .spec.replicas");
}

TEST(Apply, WhatIsNoLongerSaidGoesUnlessAnotherOwnsIt) {
  World world;
  EXPECT_EQ(
      world.apply("a", R"({"replicas":1,"image":"i","tags":["x","y"],"ports":[{"port":80},{"port":81,"name":"n"}]})"),
      "");
  EXPECT_EQ(world.apply("b", R"({"image":"i","tags":["y"],"ports":[{"port":81}]})"), "");
  EXPECT_EQ(world.apply("a", R"({"replicas":1})"), "");
  EXPECT_EQ(world.spec(), R"({"image":"i","ports":[{"port":81}],"replicas":1,"tags":["y"]})");
  EXPECT_EQ(world.apply("b", "{}"), "");
  EXPECT_EQ(world.spec(), R"({"replicas":1})");
}

TEST(Apply, WhatAnUpdateTookStays) {
  World world;
  EXPECT_EQ(world.apply("a", R"({"replicas":1,"map":{"k":"v"}})"), "");
  world.update("scaler", R"({"replicas":5,"map":{"k":"v"}})");
  EXPECT_EQ(world.apply("a", R"({"map":{"k":"v"}})"), "");
  EXPECT_EQ(world.spec(), R"({"map":{"k":"v"},"replicas":5})");
  EXPECT_THAT(world.owners(), ElementsAre("a Apply .spec.map.k", "scaler Update .spec.replicas"));
}

TEST(Apply, ListsKeepTheOrderOfTheIntent) {
  World world;
  world.update("e", R"({"tags":["m","a","n","b"]})");
  EXPECT_EQ(world.apply("x", R"({"tags":["b","z","a"]})"), "");
  EXPECT_EQ(world.live()["spec"]["tags"].dump(), R"(["m","n","b","z","a"])");
}

TEST(Apply, ListsOfTheIntentMustBeApart) {
  World world;
  EXPECT_THAT(world.apply("a", R"({"tags":["x","x"]})"), HasSubstr(".spec.tags: duplicate entries for key"));
  EXPECT_THAT(world.apply("a", R"({"ports":[{"name":"n"}]})"), HasSubstr(".spec.ports: element 0"));
  EXPECT_THAT(world.apply("a", R"({"port":1})"), HasSubstr(".spec.port: field not declared in schema"));
  Json intent = {{"metadata", {{"name", "n"}, {"managedFields", Json::array()}}}};
  EXPECT_EQ(world.apply_object("a", intent, false), "metadata.managedFields must be nil");
}

TEST(Apply, StatusIsAnotherEntry) {
  World world;
  world.update("user", R"({"replicas":1})");
  world.update("controller", R"({"phase":"Ready"})", "status");
  EXPECT_THAT(world.owners(),
              ElementsAre("user Update .spec .spec.replicas", "controller Update status .status .status.phase"));
}

TEST(Apply, OwnersAreForgottenOnDemand) {
  World world;
  EXPECT_EQ(world.apply("a", R"({"replicas":1})"), "");
  Json object = world.live();
  object["metadata"]["managedFields"] = Json::parse("[{}]");
  track(kind(), &world.live(), object, {.manager = "m", .api_version = "e.com/v1", .time = "t"});
  EXPECT_FALSE(object["metadata"].contains("managedFields"));
  world.live() = object;
  world.update("later", R"({"replicas":2})");
  EXPECT_THAT(world.owners(), IsEmpty()) << "until someone applies";
  EXPECT_THAT(world.apply("b", R"({"replicas":3})"), HasSubstr("conflict with \"before-first-apply\" using e.com/v1"));
  EXPECT_EQ(world.apply("b", R"({"replicas":2})"), "");
  EXPECT_THAT(world.owners(), ElementsAre("b Apply .spec.replicas", "before-first-apply Update .spec .spec.replicas"));
}

TEST(Apply, ClientSideApplyGoesOver) {
  World world;
  const std::string applied = R"({"spec":{"replicas":1,"image":"i"}})";
  Json object = {
      {"metadata", {{"name", "n"}, {"annotations", {{"kubectl.kubernetes.io/last-applied-configuration", applied}}}}},
      {"spec", {{"replicas", 1}, {"image", "i"}}}};
  track(kind(), nullptr, object, {.manager = "kubectl-client-side-apply", .api_version = "e.com/v1", .time = "t"});
  const Json intent = {{"metadata", {{"name", "n"}}}, {"spec", {{"replicas", 2}, {"image", "i"}}}};
  const Writer kubectl{.manager = "kubectl", .api_version = "e.com/v1", .time = "u"};
  Answer<Applied> done = apply(kind(), &object, intent, kubectl, false);
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ((*done->object)["spec"]["replicas"], 2);
  EXPECT_THAT(
      (*done->object)["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"].get<std::string>(),
      HasSubstr("\"replicas\":2"));
  const Writer other{.manager = "other", .api_version = "e.com/v1", .time = "u"};
  EXPECT_FALSE(apply(kind(), &object, intent, other, false).ok());
}

TEST(Apply, AnIntentWithoutAnnotationsGoesOverToo) {
  constexpr const char* kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
  const Json object = {{"metadata", {{"name", "n"}, {"annotations", {{kAnnotation, R"({"spec":{"replicas":1}})"}}}}},
                       {"spec", {{"replicas", 1}}}};
  const Writer kubectl{.manager = "kubectl", .api_version = "e.com/v1", .time = "u"};
  for (const Json& annotations : {Json(), Json::object()}) {
    const Json intent = {{"metadata", {{"name", "n"}, {"annotations", annotations}}}, {"spec", {{"replicas", 2}}}};
    const Answer<Applied> done = apply(kind(), &object, intent, kubectl, true);
    ASSERT_TRUE(done.ok()) << done.error().message;
    const Json& reported = (*done->object)["metadata"]["annotations"];
    EXPECT_THAT(reported.value(kAnnotation, ""), HasSubstr("\"replicas\":2"));
    EXPECT_THAT(reported.value(kAnnotation, ""), Not(HasSubstr("annotations")));
  }
}

TEST(Track, AnUpdateThatChangesNothingLeavesTheTimes) {
  World world;
  world.update("a", R"({"replicas":1})");
  const Json before = world.live();
  world.update("b", R"({"replicas":1})");
  EXPECT_EQ(world.live(), before);
}

TEST(Track, ManyUpdatesBecomeAncient) {
  World world;
  for (int i = 0; i < 15; ++i)
    world.update("m" + std::to_string(i), R"({"replicas":1,"map":{"k)" + std::to_string(i) + R"(":"v"}})");
  EXPECT_LE(world.owners().size(), 11U);
}

TEST(FieldSet, RefusesWhatIsNone) {
  for (const char* bad :
       {R"({"x:y":{}})", R"({"f":{}})", R"({"k:[]":{}})", R"({"v:{":{}})", R"({"i:x":{}})", R"({"f:a":1})", "[]"}) {
    EXPECT_FALSE(FieldSet::parse(Json::parse(bad)).ok()) << bad;
  }
  EXPECT_TRUE(FieldSet::parse(Json::object())->empty());
}

/// A step that is a value holds JSON in the text of a key: its depth is not that of the document.
TEST(FieldSet, RefusesAStepThatNestsTooDeep) {
  for (const std::string kind : {"v:", "k:{\"a\":"}) {
    const std::size_t depth = 1'000'000;
    std::string step = kind + std::string(depth, '[') + std::string(depth, ']');
    if (kind.front() == 'k') step += "}";
    EXPECT_FALSE(FieldSet::parse(Json{{step, Json::object()}}).ok()) << kind;
  }
}

TEST(Managers, AreNamedAfterTheirAgents) {
  EXPECT_EQ(manager_of("kubectl/v1.30 (linux)"), "kubectl");
  EXPECT_EQ(manager_of(""), "unknown");
  EXPECT_EQ(manager_of(std::string(300, 'x')).size(), 128U);
  EXPECT_EQ(manager_fault("ok"), "");
  EXPECT_NE(manager_fault("a\nb"), "");
  EXPECT_NE(manager_fault(std::string(129, 'x')), "");
}

/// Specs made at random of the kind above.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  Json spec() {
    Json out = Json::object();
    if (below(2)) out["replicas"] = below(3);
    if (below(2)) out["image"] = letter();
    if (below(2)) {
      for (int port : distinct()) {
        Json item = {{"port", port}};
        if (below(2)) item["name"] = letter();
        if (below(3) == 0) item["protocol"] = below(2) ? "TCP" : "UDP";
        out["ports"].push_back(item);
      }
    }
    if (below(2)) {
      for (int tag : distinct()) out["tags"].push_back("t" + std::to_string(tag));
    }
    if (below(3) == 0) out["args"] = {letter(), letter()};
    for (int key : distinct()) out["map"]["k" + std::to_string(key)] = letter();
    if (below(3) == 0) out["whole"]["a"] = letter();
    if (below(3) == 0) out["free"]["x" + letter()]["y"] = below(2);
    return out;
  }

 private:
  std::string letter() { return std::string(1, static_cast<char>('a' + below(3))); }
  std::vector<int> distinct() {
    std::vector<int> all = {1, 2, 3, 4};
    std::shuffle(all.begin(), all.end(), engine_);
    all.resize(static_cast<std::size_t>(below(4)));
    return all;
  }
  std::mt19937 engine_;
};

TEST(Apply, RandomObjectsKeepTheLaws) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    World world;
    world.update("base", random.spec().dump());
    const Json before = world.live()["spec"];
    const std::string intent = random.spec().dump();
    ASSERT_EQ(world.apply("a", intent, true), "") << seed;
    ASSERT_EQ(world.apply("a", intent), "") << seed << ": what is forced once is no conflict";
    EXPECT_FALSE(world.changed()) << seed << ": applying twice changes nothing";
    ASSERT_EQ(world.apply("b", intent), "") << seed << ": the same is shared";
    // What is applied and taken back by all leaves what others own, and nothing that was not there.
    ASSERT_EQ(world.apply("b", "{}"), "") << seed;
    ASSERT_EQ(world.apply("a", "{}"), "") << seed;
    for (const auto& [name, value] : world.live()["spec"].items()) {
      EXPECT_TRUE(before.contains(name)) << seed << " " << name << value;
    }
  }
}

}  // namespace
}  // namespace edge::resource_api::objects
