#include "edgectl/resources/write/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edgectl/resources/test_dir.h"

namespace edge::edgectl {
namespace {

using testing::HasSubstr;

constexpr const char* kRoute = R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata:
  name: shop
  namespace: web
  annotations: {a.b/c: x}
spec:
  parentRefs: [{name: edge}]
  hostnames: [a.example, b.example]
  rules:
    - matches:
        - path: {type: PathPrefix, value: /cart}
)";

class ManifestTest : public testing::Test {
 protected:
  void read(const std::string& text, bool generate_name = false) {
    dir_.put("in.yaml", text);
    ASSERT_TRUE(read_manifest({dir_ / "in.yaml"}, generate_name, manifest_, diagnostics_));
  }
  std::string field_text(const char* path) {
    const Span span = find_field(manifest_.objects.front().node, path).span();
    return std::string(manifest_.sources[span.source].text().substr(span.begin, span.end - span.begin));
  }
  std::string rendered() {
    diagnostics_.finish(manifest_.sources);
    std::string all;
    for (const auto& diagnostic : diagnostics_.all()) all += render(diagnostic, manifest_.sources, Colour::kNo);
    return all;
  }

  TestDir dir_;
  Manifest manifest_;
  Diagnostics diagnostics_;
};

TEST_F(ManifestTest, ReadsObjectsAndItemsOfLists) {
  read(std::string(kRoute) +
       "---\n{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: "
       "Yg==}}]}\n"
       "---\nkind: RouteTest\n---\n");
  ASSERT_TRUE(diagnostics_.ok());
  ASSERT_EQ(manifest_.objects.size(), 2u);
  EXPECT_EQ(manifest_.objects[0].title(), "ProxyRoute web/shop");
  EXPECT_EQ(manifest_.objects[1].text,
            R"({"apiVersion":"v1","data":{"a":"Yg=="},"kind":"Secret","metadata":{"name":"s"}})");
}

TEST_F(ManifestTest, TellsWhatIsNoResource) {
  read(
      "kind: Secret\nmetadata: {name: a}\n---\napiVersion: v1\nmetadata: {name: a}\n---\n"
      "apiVersion: v1\nkind: Secret\nmetadata: {generateName: a-}\n---\n[1]\n---\na: [\n");
  EXPECT_TRUE(manifest_.objects.empty());
  const std::string text = rendered();
  EXPECT_THAT(text, HasSubstr("`apiVersion` is missing"));
  EXPECT_THAT(text, HasSubstr("`kind` is missing"));
  EXPECT_THAT(text, HasSubstr("`metadata.name` is missing"));
  EXPECT_THAT(text, HasSubstr("a resource is a map"));
  EXPECT_THAT(text, HasSubstr("error[EDGE0001]"));
}

TEST_F(ManifestTest, AGeneratedNameIsOneWhenObjectsAreCreated) {
  read("apiVersion: v1\nkind: Secret\nmetadata: {generateName: a-}\n", /*generate_name=*/true);
  EXPECT_EQ(manifest_.objects.size(), 1u);
}

TEST_F(ManifestTest, FindsFieldsByTheirPath) {
  read(kRoute);
  EXPECT_EQ(field_text("spec.rules[0].matches[0].path.value"), "/cart");
  EXPECT_EQ(field_text("spec.hostnames[1]"), "b.example");
  EXPECT_EQ(field_text("metadata.annotations[a.b/c]"), "x");
  // What is not there is told at what is above it.
  EXPECT_EQ(field_text("spec.hostnames[7]"), "[a.example, b.example]");
  EXPECT_EQ(field_text("spec.rules[0].matches[0].path.value.x[1]"), "/cart");
  for (const char* odd : {"[", "]", "spec.[", "spec..rules", "[999999999999999999999]", "."}) {
    EXPECT_TRUE(find_field(manifest_.objects.front().node, odd)) << odd;
  }
}

TEST_F(ManifestTest, ShowsARefusalAtTheField) {
  read(kRoute);
  add_refusal(
      manifest_.objects.front(),
      {.kind = kube::Failure::Kind::kRefused,
       .http = 422,
       .reason = "Invalid",
       .message = "whole",
       .causes = {{.reason = "FieldValueInvalid",
                   .message = "Invalid value: \"/cart\": must not be",
                   .field = "spec.rules[0].matches[0].path.value"},
                  {.reason = "FieldValueRequired", .message = "Required value", .field = "spec.rules[0].backendRef"}}},
      diagnostics_);
  const std::string text = rendered();
  EXPECT_THAT(text, HasSubstr("error[EDGE0104]: Invalid value: \"/cart\": must not be"));
  EXPECT_THAT(text, HasSubstr("in.yaml:12:43"));
  EXPECT_THAT(text, HasSubstr("error[EDGE0103]: Required value"));
  EXPECT_THAT(text, HasSubstr("the API server refuses it (Invalid)"));
}

TEST_F(ManifestTest, ARefusalWithoutFieldsIsOfTheWhole) {
  read(kRoute);
  add_refusal(manifest_.objects.front(),
              {.kind = kube::Failure::Kind::kRefused, .http = 409, .reason = "Conflict", .message = "too late"},
              diagnostics_);
  EXPECT_THAT(rendered(), HasSubstr("too late"));
}

TEST_F(ManifestTest, ChecksFieldsButNoReferences) {
  read(std::string(kRoute) + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n");
  check_fields(manifest_, diagnostics_);
  EXPECT_TRUE(diagnostics_.ok()) << rendered();
  Manifest other;
  dir_.put("bad.yaml", "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: a}\nspec: {rulez: []}\n");
  ASSERT_TRUE(read_manifest({dir_ / "bad.yaml"}, false, other, diagnostics_));
  check_fields(other, diagnostics_);
  EXPECT_FALSE(diagnostics_.ok());
}

TEST_F(ManifestTest, OrdersByWhatNeedsWhat) {
  std::string all;
  for (const char* kind : {"ProxyRoute", "Deployment", "Secret", "ProxyBackend", "Namespace"}) {
    all += std::string("---\n{apiVersion: v1, kind: ") + kind + ", metadata: {name: a}}\n";
  }
  read(all);
  sort_for_creation(manifest_.objects);
  std::string order;
  for (const auto& object : manifest_.objects) order += object.kind + " ";
  EXPECT_EQ(order, "Namespace Secret ProxyBackend ProxyRoute Deployment ");
}

}  // namespace
}  // namespace edge::edgectl
