#include "controller/cluster_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::controller {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kOurClass = "edgeproxy.io/proxy";

TEST(ClusterObject, KeepsNoValueOfAConfigMapButAuthorities) {
  Json map = {{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", {{"name", "m"}, {"namespace", "shop"}, {"uid", "1"}}},
              {"data", {{"ca.crt", "PEM"}, {"large", "unread"}}}};
  const auto read = read_cluster_object(map.dump(), kOurClass);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_THAT((*read)->document, AllOf(HasSubstr("PEM"), HasSubstr("large"), Not(HasSubstr("unread"))));
}

TEST(ClusterObject, PassesOverSecretsThatNobodyCanName) {
  const Json release = {{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"type", "helm.sh/release.v1"},
                        {"metadata", {{"name", "r"}, {"namespace", "shop"}}}};
  const auto read = read_cluster_object(release.dump(), kOurClass);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
}

TEST(ClusterObject, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "{}", R"({"metadata":[]})", R"({"kind":"Pod","metadata":{"name":"p"}})",
                           R"({"kind":7,"metadata":{"name":7,"generation":"x"}})"}) {
    EXPECT_FALSE(read_cluster_object(text, kOurClass).ok()) << text;
  }
}

}  // namespace
}  // namespace edge::controller
