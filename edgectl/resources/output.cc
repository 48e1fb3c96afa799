#include "edgectl/resources/output.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/resources/columns.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kJsonPath = "jsonpath=";
constexpr std::string_view kCustomColumns = "custom-columns=";

/// Of all commands: one that EDGECTL_OUTPUT names is no mistake where a command does not have it.
const std::vector<std::string_view>& all_forms() {
  static const std::vector<std::string_view> kAll = {"table",       "text",     "wide",         "json",
                                                     "yaml",        kJsonPath,  kCustomColumns, "name",
                                                     "json-schema", "markdown", "sarif",        "junit"};
  return kAll;
}

}  // namespace

cli::Flag form_flag(std::vector<std::string_view> forms) {
  return {.name = "output",
          .letter = 'o',
          .value = "FORM",
          .help = "Output format",
          .fallback = forms.front(),
          .choices = std::move(forms),
          .environment = "EDGECTL_OUTPUT",
          .passed_over = all_forms()};
}

bool wants_data(const cli::Arguments& arguments) {
  const std::string form = arguments.one("output");
  return form == "json" || form == "yaml";
}

std::string data_text(const cli::Arguments& arguments, const std::string& json) {
  if (arguments.one("output") != "yaml") return json;
  const auto value = parse_ordered_json(json);
  return value.is_discarded() ? json : schemas::yaml_text(value);
}

cli::Flag output_flag() { return form_flag({"table", "wide", "json", "yaml", "name", kJsonPath, kCustomColumns}); }

cli::Flag result_flag() {
  return {.name = "output",
          .letter = 'o',
          .value = "FORM",
          .help = "Print the resulting object in this format",
          .choices = {"json", "yaml", "name", kJsonPath}};
}

Output output_of(const cli::Arguments& arguments) {
  const std::string text = arguments.one("output");
  if (text == "wide") return {.form = Form::kWide};
  if (text == "json") return {.form = Form::kJson};
  if (text == "yaml") return {.form = Form::kYaml};
  if (text == "name") return {.form = Form::kName};
  if (text.starts_with(kJsonPath)) return {.form = Form::kJsonPath, .argument = text.substr(kJsonPath.size())};
  if (text.starts_with(kCustomColumns)) {
    return {.form = Form::kCustomColumns, .argument = text.substr(kCustomColumns.size())};
  }
  return {};
}

Result<std::string> object_text(const Output& output, const Json& object) {
  if (output.form == Form::kYaml) return schemas::yaml_text(object);
  if (output.form == Form::kJsonPath) return fill_template(output.argument, object);
  return indented_json(object);
}

Json list_of(std::vector<Json> objects) {
  return {
      {"apiVersion", "v1"}, {"items", std::move(objects)}, {"kind", "List"}, {"metadata", {{"resourceVersion", ""}}}};
}

Json parsed_json(std::string_view text) {
  Json json = parse_json(text);
  return json.is_discarded() ? Json() : json;
}

Json plain_object(std::string_view text) {
  Json object = parsed_json(text);
  const auto metadata = object.is_object() ? object.find("metadata") : object.end();
  if (object.is_object() && metadata != object.end() && metadata->is_object()) metadata->erase("managedFields");
  return object;
}

}  // namespace edge::edgectl
