#include "controller/operator/definitions.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/operator/version.h"
#include "schemas/crd.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

json own() {
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.kind == "ProxyVIP") return parse_json(schemas::crd_json(kind));
  }
  return {};
}

json of_version(const std::string& version) {
  json live = own();
  live["metadata"]["annotations"][std::string(schemas::kDefinitionVersion)] = version;
  // What the API adds.
  live["metadata"]["uid"] = "1";
  live["spec"]["conversion"] = {{"strategy", "None"}};
  live["status"] = {{"storedVersions", {"v1alpha1"}}};
  return live;
}

TEST(Definitions, AreMadeWhereThereAreNone) { EXPECT_EQ(next_definition(json(), own()), own()); }

TEST(Definitions, AreLeftWhereTheyAreThisVersions) {
  EXPECT_EQ(next_definition(of_version(EDGE_VERSION), own()), std::nullopt);
}

TEST(Definitions, OfAnOlderVersionAreUpgradedAndThoseOfANewerOneStay) {
  EXPECT_EQ(next_definition(of_version("0.0.9"), own()), own());
  json without = of_version(EDGE_VERSION);
  without["metadata"]["annotations"].clear();
  EXPECT_EQ(next_definition(without, own()), own()) << "before there was the annotation";
  json newer = of_version("999.0.0");
  newer["spec"]["versions"][0]["schema"] = json::object();
  EXPECT_EQ(next_definition(newer, own()), std::nullopt);
}

TEST(Definitions, ThatSomebodyChangedAreSetBack) {
  json changed = of_version(EDGE_VERSION);
  changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "mine";
  EXPECT_EQ(next_definition(changed, own()), own());
}

TEST(Definitions, KeepVersionsThatObjectsAreStoredIn) {
  json live = of_version("0.0.9");
  json old = live["spec"]["versions"][0];
  old["name"] = "v1alpha0";
  live["spec"]["versions"][0]["storage"] = false;
  live["spec"]["versions"].push_back(old);
  json unused = old;
  unused["name"] = "v1unused";
  unused["storage"] = false;
  live["spec"]["versions"].push_back(unused);
  live["status"]["storedVersions"] = {"v1alpha0", "v1alpha1"};
  const auto next = next_definition(live, own());
  ASSERT_TRUE(next);
  const json& versions = (*next)["spec"]["versions"];
  ASSERT_EQ(versions.size(), 2u) << versions.dump(1);
  EXPECT_EQ(versions[0], own()["spec"]["versions"][0]) << "objects are stored in this version's from now on";
  EXPECT_EQ(versions[1]["name"], "v1alpha0");
  EXPECT_EQ(versions[1]["storage"], false);
  EXPECT_EQ(versions[1]["served"], true);
}

TEST(Definitions, VersionsAreComparedByTheirNumbers) {
  EXPECT_LT(parse_version("0.9.12"), parse_version("0.10.0"));
  EXPECT_EQ(parse_version("v0.2.0-rc.1"), parse_version("0.2.0"));
  for (const char* none : {"", "v", "x", "1.x", "1.2.3.4", "-1"}) EXPECT_FALSE(parse_version(none)) << none;
}

}  // namespace
}  // namespace edge::cluster_operator
