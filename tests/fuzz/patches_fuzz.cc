// Any bytes as an object, a patch of each kind and an intent that is applied: each ends in a bounded time with an
// object or a Status, and what was applied can be applied again and changes nothing.
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/apply.h"
#include "controller/resource_api/objects/built_in/built_in.h"
#include "controller/resource_api/objects/patch.h"
#include "controller/resource_api/objects/read.h"
#include "tests/fuzz/require.h"

using namespace edge::resource_api::objects;

namespace {

void apply_twice(const Schema& schema, const Json& object, const Json& intent) {
  const Writer writer{.manager = "m", .api_version = "v1", .time = "2024-01-01T00:00:00Z"};
  const auto once = apply(schema, &object, intent, writer, true);
  if (!once) return;
  const auto again = apply(schema, once->object.get(), intent, writer, false);
  require(again.ok() && *again->object == *once->object);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // An object and a patch, one a line.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return 0;
  std::vector<std::string> duplicates;
  const auto object = read_object(text.substr(0, line), &duplicates);
  const auto patch = read_json(text.substr(line + 1), &duplicates);
  require(duplicates.size() <= 2 * kMaxCauses);
  if (!object || !patch) return 0;
  const Schema& service = built_in_schema("", "Service");
  const Schema& deployment = built_in_schema("apps", "Deployment");
  for (const auto& patched :
       {json_patch(*object, *patch), merge_patch(*object, *patch), strategic_merge_patch(*object, *patch, service),
        strategic_merge_patch(*object, *patch, deployment)}) {
    // What comes out can be told and read again.
    if (patched) require(read_json(edge::json_line(*patched)).ok());
    if (!patched) require(patched.error().code >= 400 && patched.error().code < 500);
  }
  if (!patch->is_object()) return 0;
  apply_twice(service, *object, *patch);
  apply_twice(deployment, *object, *patch);
  apply_twice(*schemaless(), *object, *patch);
  Json changed = *patch;
  track(service, &*object, changed, {.manager = "m", .api_version = "v1", .time = "t"});
  Causes causes;
  validate_managed_fields(*patch, causes);
  require(causes.size() <= 3 * kMaxCauses);
  return 0;
}
