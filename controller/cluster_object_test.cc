#include "controller/cluster_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* kOurClass = "edgeproxy.io/proxy";

TEST(ClusterObject, KeepsOfAConfigMapNoValueThatIsTooLargeForABody) {
  Json map = {
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata", {{"name", "m"}, {"namespace", "shop"}, {"uid", "1"}, {"annotations", {{"a", "not-for-compilers"}}}}},
      {"unreadValues", {{"page", "written by a stranger"}}},
      {"data",
       {{"ca.crt", std::string(70'000, 'P')},
        {"networks", "192.0.2.0/24"},
        {"page", "read"},
        {"large", "unread" + std::string(65'531, '.')},
        {"odd", 7}}},
      {"binaryData", {{"logo", "AAEC"}, {"video", std::string(100'000, 'A')}}}};
  const auto read = read_cluster_object(map.dump(), kOurClass);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_THAT((*read)->document, AllOf(HasSubstr(std::string(70'000, 'P')), HasSubstr("192.0.2.0/24"),
                                       HasSubstr("\"read\""), HasSubstr("AAEC"), Not(HasSubstr("unread....")),
                                       Not(HasSubstr(std::string(100'000, 'A'))), Not(HasSubstr("not-for-compilers"))));
  EXPECT_LT((*read)->document.size(), 71'000u);
  EXPECT_EQ(Json::parse((*read)->document)["unreadValues"],
            (Json{{"large", "has more than 64 KiB"}, {"video", "has more than 64 KiB"}}))
      << "and nothing that somebody wrote there";
  ClusterObject dropped = **read;
  drop_values(dropped);
  EXPECT_TRUE(dropped.values_dropped);
  const Json left = Json::parse(dropped.document);
  EXPECT_EQ(left["data"], (Json{{"ca.crt", std::string(70'000, 'P')}, {"networks", "192.0.2.0/24"}}));
  EXPECT_FALSE(left.contains("binaryData") || left.contains("unreadValues"));
}

TEST(ClusterObject, HasWhatKubectlLeftOutBecauseItIsEmpty) {
  const auto spec_of = [](const Json& spec, const Json& applied) {
    const Json policy = {{"apiVersion", "edgeproxy.io/v1alpha1"},
                         {"kind", "ProxyPolicy"},
                         {"metadata",
                          {{"name", "p"},
                           {"namespace", "shop"},
                           {"uid", "1"},
                           {"annotations",
                            {{"kubectl.kubernetes.io/last-applied-configuration",
                              applied.is_string() ? applied.get<std::string>() : Json{{"spec", applied}}.dump()}}}}},
                         {"spec", spec}};
    const auto read = read_cluster_object(policy.dump(), kOurClass);
    EXPECT_TRUE(read.ok() && *read);
    return Json::parse((*read)->document)["spec"];
  };
  const Json none = nullptr;
  const Json deny = {{"ipAccess", {{"deny", {"192.0.2.0/24"}}}}};
  const Json both = {{"ipAccess", {{"allow", none}, {"deny", {"192.0.2.0/24"}}}}};
  EXPECT_EQ(spec_of(deny, both), both);
  // Somebody has given it a value since.
  const Json given = {{"ipAccess", {{"allow", {"198.51.100.0/24"}}}}};
  EXPECT_EQ(spec_of(given, both), given);
  // Fields that do not narrow; settings that are not there any more; texts of strangers.
  const Json limit = {{"rateLimit", {{"requestsPerSecond", 5}}}};
  EXPECT_EQ(spec_of(limit, {{"rateLimit", {{"burst", none}}}, {"ipAccess", {{"allow", none}}}, {"other", none}}),
            limit);
  for (const char* text : {"null", "[null]", R"({"spec":null})", R"({"spec":[null]})", "{null"}) {
    EXPECT_EQ(spec_of(deny, text), deny) << text;
  }
  // In lists by place, where they are as long.
  const Json one = {{"jwt", {{"issuers", {{{"issuer", "a"}}}}}}};
  const Json empty = {{"issuer", "a"}, {"audience", none}};
  EXPECT_EQ(spec_of(one, {{"jwt", {{"issuers", {empty}}}}}), (Json{{"jwt", {{"issuers", {empty}}}}}));
  EXPECT_EQ(spec_of(one, {{"jwt", {{"issuers", {empty, empty}}}}}), one);
}

// Which node holds an address may change at any time, and is nothing to compile for.
TEST(ClusterObject, KeepsOfAStatusWhichGatewayHasWhichAddressOfAPool) {
  Json vip = {
      {"apiVersion", "edgeproxy.io/v1alpha1"},
      {"kind", "ProxyVIP"},
      {"metadata", {{"name", "v"}, {"namespace", "shop"}, {"uid", "1"}}},
      {"spec", {{"pool", {"192.0.2.0/28"}}}},
      {"status",
       {{"epoch", 3},
        {"allocations",
         {{{"address", "192.0.2.4"}, {"kind", "Gateway"}, {"namespace", "a"}, {"name", "b"}, {"node", "n1"}}}}}}};
  const auto read = read_cluster_object(vip.dump(), kOurClass);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_THAT((*read)->document, AllOf(HasSubstr("192.0.2.4"), Not(HasSubstr("n1")), Not(HasSubstr("epoch"))));
  vip["spec"] = {{"address", "192.0.2.4/24"}};
  const auto single = read_cluster_object(vip.dump(), kOurClass);
  ASSERT_TRUE(single.ok() && *single);
  EXPECT_THAT((*single)->document, Not(HasSubstr("allocations")));
}

TEST(ClusterObject, NamesTheServicesOfARouteOfGatewayApi) {
  Json route = {
      {"apiVersion", "gateway.networking.k8s.io/v1"},
      {"kind", "HTTPRoute"},
      {"metadata", {{"name", "r"}, {"namespace", "shop"}, {"uid", "1"}}},
      {"spec",
       {{"rules",
         {{{"filters",
            {{{"type", "RequestMirror"}, {"requestMirror", {{"backendRef", {{"name", "copies"}, {"port", 1}}}}}},
             {{"type", "ExternalAuth"}, {"externalAuth", {{"backendRef", {{"name", "auth"}, {"namespace", "a"}}}}}}}},
           {"backendRefs",
            {{{"name", "be"}, {"port", 1}},
             {{"name", "be"}, {"port", 2}, {"kind", "Service"}, {"group", ""}},
             {{"name", "own"}, {"kind", "ProxyBackend"}, {"group", "edgeproxy.io"}},
             {{"name", 7}},
             "none"}}},
          7}}}}};
  const auto read = read_cluster_object(route.dump(), kOurClass);
  ASSERT_TRUE(read.ok() && *read);
  EXPECT_THAT((*read)->services, ElementsAre("a/auth", "shop/be", "shop/copies"));
  route["kind"] = "ProxyRoute";
  const auto own = read_cluster_object(route.dump(), kOurClass);
  ASSERT_TRUE(own.ok() && *own);
  EXPECT_THAT((*own)->services, IsEmpty());
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

TEST(ClusterObject, AsksForNoSecretsThatNobodyCanName) {
  const std::string fields = selectors_of("Secret").fields;
  EXPECT_THAT(fields, testing::StartsWith("type!=helm.sh/release.v1,type!="));
  EXPECT_THAT(fields, HasSubstr("type!=kubernetes.io/service-account-token"));
  EXPECT_THAT(fields, Not(HasSubstr("kubernetes.io/tls")));
  EXPECT_EQ(selectors_of("EndpointSlice").labels, "kubernetes.io/service-name");
  EXPECT_EQ(selectors_of("Service").labels + selectors_of("Service").fields, "");
}

TEST(ClusterObject, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "{}", R"({"metadata":[]})", R"({"kind":"Pod","metadata":{"name":"p"}})",
                           R"({"kind":7,"metadata":{"name":7,"generation":"x"}})"}) {
    EXPECT_FALSE(read_cluster_object(text, kOurClass).ok()) << text;
  }
}

}  // namespace
}  // namespace edge::controller
