#include "edgectl/resources/write/merge.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

std::string patch(const char* last, const char* live, const char* wanted) {
  return three_way_patch(Json::parse(last), Json::parse(live), Json::parse(wanted)).dump();
}

TEST(Merge, SetsWhatDiffers) {
  EXPECT_EQ(patch("{}", R"({"a":1,"b":2})", R"({"a":1,"b":3,"c":4})"), R"({"b":3,"c":4})");
  EXPECT_EQ(patch("{}", R"({"a":{"x":1,"y":2}})", R"({"a":{"x":1,"y":3}})"), R"({"a":{"y":3}})");
  EXPECT_EQ(patch("{}", R"({"a":[1,2]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(patch("{}", R"({"a":1})", R"({"a":{"x":1}})"), R"({"a":{"x":1}})");
}

TEST(Merge, RemovesWhatWasSaidBeforeAndIsNoLonger) {
  EXPECT_EQ(patch(R"({"a":1,"b":2})", R"({"a":1,"b":2,"c":3})", R"({"a":1})"), R"({"b":null})");
  EXPECT_EQ(patch(R"({"a":{"x":1,"y":2}})", R"({"a":{"x":1,"y":2,"z":3}})", R"({"a":{"x":5}})"),
            R"({"a":{"x":5,"y":null}})");
  // Gone already; never ours.
  EXPECT_EQ(patch(R"({"a":1})", R"({"b":1})", "{}"), "{}");
  EXPECT_EQ(patch("{}", R"({"status":{"ready":true}})", "{}"), "{}");
  // What became another type replaces it whole.
  EXPECT_EQ(patch(R"({"a":{"x":1}})", R"({"a":{"x":1}})", R"({"a":[1]})"), R"({"a":[1]})");
}

TEST(Merge, NothingToDoIsAnEmptyPatch) {
  EXPECT_EQ(patch(R"({"a":1})", R"({"a":1,"x":{"y":1}})", R"({"a":1})"), "{}");
  EXPECT_EQ(patch("{}", "{}", R"({"a":null})"), "{}");
}

TEST(Merge, TheAnnotationSaysWhatWasApplied) {
  const Json object = Json::parse(R"({"kind":"K","metadata":{"name":"a","annotations":{"x":"y"}}})");
  const Json once = with_last_applied(object);
  EXPECT_EQ(last_applied(once), object);
  // What is written is not in what is written.
  EXPECT_EQ(with_last_applied(once), once);
  EXPECT_EQ(last_applied(Json::parse("{}")), Json::object());
  EXPECT_EQ(last_applied(Json::parse(R"({"metadata":{"annotations":5}})")), Json::object());
  Json broken = once;
  broken["metadata"]["annotations"][kLastApplied] = "{";
  EXPECT_EQ(last_applied(broken), Json::object());
}

TEST(Merge, AnEditIsThePatchBetween) {
  EXPECT_EQ(merge_patch_between(Json::parse(R"({"a":1,"b":{"c":2,"d":3}})"), Json::parse(R"({"b":{"c":5}})")).dump(),
            R"({"a":null,"b":{"c":5,"d":null}})");
}

}  // namespace
}  // namespace edge::edgectl
