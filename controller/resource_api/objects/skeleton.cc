// Functions whose files are still to come.
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/apply.h"
#include "controller/resource_api/objects/built_in.h"
#include "controller/resource_api/objects/crd.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/patch.h"
#include "controller/resource_api/objects/read.h"

namespace edge::resource_api::objects {

Answer<Json> read_json(std::string_view text, std::vector<std::string>*) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return bad_request("the body is not JSON");
  return value;
}
Answer<Json> read_object(std::string_view text, std::vector<std::string>* duplicates) {
  Answer<Json> value = read_json(text, duplicates);
  if (value && !value->is_object()) return bad_request("the body is not an object");
  return value;
}

const Schema* Schema::field(std::string_view name) const {
  const auto found = properties.find(name);
  return found == properties.end() ? nullptr : found->second.get();
}
SchemaPtr schemaless() { return std::make_shared<Schema>(); }
SchemaPtr compile_schema(const Json&, std::string_view, Causes&) { return schemaless(); }
void validate(const Schema&, const Json&, const Json*, Causes&) {}
void apply_defaults(const Schema&, Json&) {}
void prune(const Schema&, Json&, std::vector<std::string>*) {}
std::vector<std::string> unknown_fields(const Schema&, const Json&) { return {}; }

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

std::string name_fault(std::string_view, NameRule, bool) { return {}; }
void validate_metadata(const Json&, NameRule, bool, Causes&) {}
void validate_metadata_update(const Json&, const Json&, Causes&) {}
bool is_label_key(std::string_view) { return true; }
bool is_label_value(std::string_view) { return true; }
std::int64_t time_of(std::string_view) { return -1; }
std::string time_text(std::int64_t) { return "1970-01-01T00:00:00Z"; }

void apply_crd_defaults(Json&) {}
void validate_crd(const Json&, const Json*, Causes&) {}
SchemaPtr crd_schema(const Json&, std::string_view) { return schemaless(); }
Columns crd_columns(const Json&, std::string_view) { return default_columns(); }

Answer<Json> json_patch(const Json&, const Json&) { return internal_error("JSON patches are not there yet"); }
Answer<Json> merge_patch(const Json&, const Json&) { return internal_error("merge patches are not there yet"); }
Answer<Json> strategic_merge_patch(const Json&, const Json&, const Schema&) {
  return internal_error("strategic merge patches are not there yet");
}

Answer<Applied> apply(const Schema&, const Json*, const Json&, const Writer&, bool) {
  return internal_error("apply is not there yet");
}
void track(const Schema&, const Json*, Json&, const Writer&) {}
std::string manager_fault(std::string_view) { return {}; }
std::string manager_of(std::string_view) { return "unknown"; }
void validate_managed_fields(const Json&, Causes&) {}

struct JsonPath::Step {};
JsonPath::JsonPath() = default;
JsonPath::~JsonPath() = default;
Answer<IncludeObject> include_object(std::string_view) { return IncludeObject::kMetadata; }
Columns compile_columns(const Json&, std::string_view, Causes&) { return {}; }
Columns default_columns() { return {}; }
Json table_head(const Columns&, std::string_view, const Json&, bool) { return Json::object(); }
Json table_row(const Columns&, const Json&, IncludeObject, std::string_view, std::int64_t) { return Json::object(); }
Json partial_metadata(const Json& object, std::string_view) { return object; }
std::string age_text(std::int64_t) { return "0s"; }

}  // namespace edge::resource_api::objects
