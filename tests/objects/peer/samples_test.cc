// The resource API's own schemas against the samples that the decoder (tests/schemas) and the code of Kubernetes
// (tests/crds) are held to: of each resource all three must say the same.
#include "tests/schemas/samples.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/schema.h"
#include "schemas/openapi.h"

namespace edge::resource_api::objects {
namespace {

Json open_api_of(const schemas::Kind& kind) {
  // The tables' JSON keeps its order; a schema needs none.
  return Json::parse(schemas::object_schema(*kind.body, schemas::Dialect::kCluster, kind.manifest->status).dump());
}

const std::map<std::string, SchemaPtr>& own_kinds() {
  static const auto kKinds = [] {
    std::map<std::string, SchemaPtr> all;
    for (const schemas::Kind& kind : schemas::kinds()) {
      if (kind.manifest == nullptr) continue;
      Causes causes;
      all[std::string(kind.kind)] = compile_schema(open_api_of(kind), std::string(kind.kind), causes);
      for (const Cause& cause : causes) ADD_FAILURE() << cause.field << ": " << cause.message;
    }
    return all;
  }();
  return kKinds;
}

std::size_t rules_in(const Json& open_api) {
  std::size_t count = 0;
  if (!open_api.is_structured()) return 0;
  if (open_api.is_object() && open_api.contains("x-kubernetes-validations")) {
    count += open_api["x-kubernetes-validations"].size();
  }
  for (const Json& inner : open_api) count += rules_in(inner);
  return count;
}

std::size_t rules_in(const Schema& schema) {
  std::size_t count = schema.rules == nullptr ? 0 : schema.rules->cel.size();
  for (const auto& [name, inner] : schema.properties) count += rules_in(*inner);
  if (schema.items != nullptr) count += rules_in(*schema.items);
  if (schema.additional != nullptr) count += rules_in(*schema.additional);
  return count;
}

std::vector<std::string> faults_of(Json object) {
  const Schema& schema = *own_kinds().at(object["kind"].get<std::string>());
  std::vector<std::string> faults = unknown_fields(schema, object);
  apply_defaults(schema, object);
  Causes causes;
  validate(schema, object, nullptr, causes);
  for (const Cause& cause : causes) faults.push_back(cause.field + ": " + cause.message);
  return faults;
}

TEST(OwnKinds, EveryRuleIsEvaluatedHere) {
  std::size_t all = 0;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    const std::size_t written = rules_in(open_api_of(kind));
    EXPECT_EQ(rules_in(*own_kinds().at(std::string(kind.kind))), written) << kind.kind;
    all += written;
  }
  EXPECT_GT(all, 10U);
}

TEST(OwnKinds, SamplesAreTakenAndRefusedAsTheDecoderDoes) {
  std::size_t right = 0;
  std::size_t wrong = 0;
  for (const test::Sample& sample : test::all_samples()) {
    const std::vector<std::string> faults = faults_of(Json::parse(sample.resource.dump()));
    EXPECT_EQ(faults.empty(), sample.valid) << sample.what << "\n" << testing::PrintToString(faults);
    ++(sample.valid ? right : wrong);
  }
  EXPECT_GT(right, 100U);
  EXPECT_GT(wrong, 500U);
}

}  // namespace
}  // namespace edge::resource_api::objects
