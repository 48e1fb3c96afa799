// Functions whose files are still to come.
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/apply.h"
#include "controller/resource_api/objects/built_in.h"
#include "controller/resource_api/objects/crd.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/patch.h"
#include "controller/resource_api/objects/read.h"

namespace edge::resource_api::objects {

const Schema& built_in_schema(std::string_view, std::string_view) {
  static const Schema kNone;
  return kNone;
}
Json built_in_open_api(std::string_view, std::string_view) { return {{"type", "object"}}; }
const Columns& built_in_columns(std::string_view, std::string_view) {
  static const Columns kNone;
  return kNone;
}
void apply_built_in_defaults(std::string_view, std::string_view, Json&) {}
void validate_built_in(std::string_view, std::string_view, const Json&, const Json*, Causes&) {}

}  // namespace edge::resource_api::objects
