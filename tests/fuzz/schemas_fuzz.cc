// Any bytes as a CustomResourceDefinition and an object of it: told what is wrong, or compiled and held to.
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/crd.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/read.h"
#include "tests/fuzz/require.h"

using namespace edge::resource_api::objects;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A schema or a CRD, columns and an object, one a line.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  auto source = read_object(text.substr(0, line));
  const auto object = read_object(text.substr(line + 1));
  if (!source || !object) return 0;
  Causes causes;
  apply_crd_defaults(*source);
  validate_crd(*source, nullptr, causes);
  validate_metadata(*source, NameRule::kSubdomain, false, causes);
  causes.clear();
  const SchemaPtr schema = compile_schema(*source, "", causes);
  require(schema == nullptr || causes.empty());
  require(causes.size() <= kMaxCauses);
  if (source->contains("columns")) (void)compile_columns((*source)["columns"], "", causes);
  if (schema == nullptr) return 0;
  Json value = *object;
  prune(*schema, value);
  require(unknown_fields(*schema, value).empty());
  apply_defaults(*schema, value);
  const Json once = value;
  apply_defaults(*schema, value);
  require(value == once);
  causes.clear();
  validate(*schema, value, &*object, causes);
  require(causes.size() <= kMaxCauses + 1);
  return 0;
}
