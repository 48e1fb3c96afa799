#include "controller/resource_api/objects/table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr std::string_view kTypes[] = {"string", "integer", "number", "boolean", "date"};
constexpr std::string_view kGroup = "meta.k8s.io/";

const Json& metadata_of(const Json& object) {
  static const Json kEmpty = Json::object();
  const auto found = object.find("metadata");
  return found == object.end() ? kEmpty : *found;
}

std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : json_line(value); }

/// As an API server: one value as it is, several as a list's text.
Json text_cell(const std::vector<const Json*>& found) {
  if (found.size() == 1 && !found[0]->is_structured()) return plain(*found[0]);
  if (found.size() == 1) return json_line(*found[0]);
  std::string all;
  for (const Json* value : found) all += (all.empty() ? "" : ",") + plain(*value);
  return all;
}

Json path_cell(const Column& column, const Json& object, std::int64_t now) {
  if (column.path == nullptr) return nullptr;
  const std::vector<const Json*> found = column.path->find(object);
  if (found.empty() || found[0]->is_null()) return nullptr;
  const Json& first = *found[0];
  if (column.type == "date") {
    const std::int64_t time = first.is_string() ? time_of(first.get_ref<const std::string&>()) : -1;
    return time == -1 ? "<invalid>" : age_text(now - time);
  }
  if (column.type == "integer") return first.is_number() ? Json(first.get<std::int64_t>()) : Json();
  if (column.type == "number") return first.is_number() ? first : Json();
  if (column.type == "boolean") return first.is_boolean() ? first : Json();
  return text_cell(found);
}

void check_column(const Json& source, const std::string& path, Column& column, Causes& causes) {
  column.name = text_in(source, "name");
  column.type = text_in(source, "type");
  column.format = text_in(source, "format");
  column.description = text_in(source, "description");
  if (const auto found = source.find("priority"); found != source.end() && found->is_number_integer()) {
    column.priority = found->get<std::int64_t>();
  }
  if (column.name.empty()) causes.push_back(value_required(below(path, "name")));
  if (std::ranges::find(kTypes, column.type) == std::ranges::end(kTypes)) {
    causes.push_back(
        value_not_supported(below(path, "type"), column.type, {"boolean", "date", "integer", "number", "string"}));
  }
  std::string fault;
  const std::string& json_path = text_in(source, "jsonPath");
  column.path = JsonPath::parse(json_path, fault);
  if (column.path == nullptr) causes.push_back(value_invalid(below(path, "jsonPath"), json_path, fault));
}

/// Events have their name last.
bool has_name(const Columns& columns) {
  return std::ranges::any_of(columns, [](const Column& column) { return column.format == "name"; });
}

Json definition(std::string_view name, std::string_view type, std::string_view format, std::string_view description,
                std::int64_t priority) {
  return {{"name", name}, {"type", type}, {"format", format}, {"description", description}, {"priority", priority}};
}

}  // namespace

Answer<IncludeObject> include_object(std::string_view parameter) {
  if (parameter.empty() || parameter == "Metadata") return IncludeObject::kMetadata;
  if (parameter == "None") return IncludeObject::kNone;
  if (parameter == "Object") return IncludeObject::kObject;
  return bad_request(words({"unrecognized includeObject value: ", in_quotes(parameter)}));
}

Columns compile_columns(const Json& printer_columns, std::string_view path, Causes& causes) {
  Columns columns;
  if (!printer_columns.is_array()) {
    causes.push_back(value_type_invalid(std::string(path), printer_columns, "must be a list"));
    return columns;
  }
  for (std::size_t i = 0; i < printer_columns.size() && causes.size() < kMaxCauses; ++i) {
    const std::string here = below(path, i);
    if (!printer_columns[i].is_object()) {
      causes.push_back(value_type_invalid(here, printer_columns[i], "must be an object"));
      continue;
    }
    Column& column = columns.emplace_back();
    check_column(printer_columns[i], here, column, causes);
  }
  return columns;
}

Columns default_columns() {
  Column age;
  age.name = "Age";
  age.type = "date";
  age.description = "Time since the object was created.";
  std::string fault;
  age.path = JsonPath::parse(".metadata.creationTimestamp", fault);
  return {std::move(age)};
}

Json table_head(const Columns& columns, std::string_view version, const Json& list_metadata, bool with_columns) {
  Json table = {{"kind", "Table"},
                {"apiVersion", words({kGroup, version})},
                {"metadata", list_metadata.is_object() ? list_metadata : Json::object()},
                {"columnDefinitions", nullptr},
                {"rows", Json::array()}};
  if (!with_columns) return table;
  Json& definitions = table["columnDefinitions"] = Json::array();
  if (!has_name(columns)) definitions.push_back(definition("Name", "string", "name", "Unique within a namespace.", 0));
  for (const Column& column : columns) {
    definitions.push_back(definition(column.name, column.type, column.format, column.description, column.priority));
  }
  return table;
}

Json table_row(const Columns& columns, const Json& object, IncludeObject include, std::string_view version,
               std::int64_t now) {
  Json row = {{"cells", Json::array()}};
  Json& cells = row["cells"];
  if (!has_name(columns)) {
    const auto name = metadata_of(object).find("name");
    cells.push_back(name == metadata_of(object).end() ? Json("") : *name);
  }
  for (const Column& column : columns) {
    cells.push_back(column.cell != nullptr ? column.cell(object, now) : path_cell(column, object, now));
  }
  if (include == IncludeObject::kMetadata) row["object"] = partial_metadata(object, version);
  if (include == IncludeObject::kObject) row["object"] = object;
  return row;
}

Json partial_metadata(const Json& object, std::string_view version) {
  return {
      {"kind", "PartialObjectMetadata"}, {"apiVersion", words({kGroup, version})}, {"metadata", metadata_of(object)}};
}

std::string age_text(std::int64_t seconds) {
  // A clock that is a little behind is no reason for a word.
  if (seconds < -1) return "<invalid>";
  if (seconds <= 0) return "0s";
  const auto two = [](std::int64_t major, const char* unit, std::int64_t minor, const char* small) {
    std::string text = words({std::to_string(major), unit});
    if (minor != 0) text += words({std::to_string(minor), small});
    return text;
  };
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  constexpr std::int64_t kYear = 365 * kDay;
  if (seconds < 2 * kMinute) return two(seconds, "s", 0, "");
  if (seconds < 10 * kMinute) return two(seconds / kMinute, "m", seconds % kMinute, "s");
  if (seconds < 3 * kHour) return two(seconds / kMinute, "m", 0, "");
  if (seconds < 8 * kHour) return two(seconds / kHour, "h", seconds / kMinute % 60, "m");
  if (seconds < 2 * kDay) return two(seconds / kHour, "h", 0, "");
  if (seconds < 8 * kDay) return two(seconds / kDay, "d", seconds / kHour % 24, "h");
  if (seconds < 2 * kYear) return two(seconds / kDay, "d", 0, "");
  if (seconds < 8 * kYear) return two(seconds / kYear, "y", seconds / kDay % 365, "d");
  return two(seconds / kYear, "y", 0, "");
}

}  // namespace edge::resource_api::objects
