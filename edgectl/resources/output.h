// The output formats of objects: `-o`, the same for all commands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "cli/flags.h"

namespace edge::edgectl {

enum class Form : std::uint8_t { kTable, kWide, kJson, kYaml, kName, kJsonPath, kCustomColumns };

struct Output {
  Form form = Form::kTable;
  std::string argument{};  ///< for kJsonPath and kCustomColumns

  bool tabular() const { return form == Form::kTable || form == Form::kWide; }
};

/// Returns `-o` with all formats of objects.
cli::Flag output_flag();
/// The same for commands that report a result and may print the object instead: without tables.
cli::Flag result_flag();
Output output_of(const cli::Arguments& arguments);

/// Returns `-o` with only these formats, the first of which is the default. Every command that prints data offers
/// `json` and `yaml`.
cli::Flag form_flag(std::vector<std::string_view> forms);
/// Returns whether `-o` requests data: JSON or YAML.
bool wants_data(const cli::Arguments& arguments);
/// Returns `json` in the format of `-o`: unchanged, or as YAML.
std::string data_text(const cli::Arguments& arguments, const std::string& json);

/// Returns JSON, YAML or a filled template. Precondition: neither a table nor a name.
Result<std::string> object_text(const Output& output, const nlohmann::json& object);
/// Returns a v1 List, as `kubectl get` prints several objects.
nlohmann::json list_of(std::vector<nlohmann::json> objects);

/// Parses `text`; null when it is invalid.
nlohmann::json parsed_json(std::string_view text);
/// The same without metadata.managedFields, which are often the larger half of an object.
nlohmann::json plain_object(std::string_view text);

}  // namespace edge::edgectl
