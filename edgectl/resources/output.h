// The forms in which commands print objects: `-o`, one for all of them.
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
  std::string argument{};  ///< of kJsonPath and kCustomColumns

  bool tabular() const { return form == Form::kTable || form == Form::kWide; }
};

/// `-o` with all forms that objects have.
cli::Flag output_flag();
/// The same for commands that tell of what they did and may print the object instead: no table.
cli::Flag result_flag();
Output output_of(const cli::Arguments& arguments);

/// `-o` of a command with just these forms, the first of which is the default. Data comes as `json` and `yaml` in every
/// command that prints some.
cli::Flag form_flag(std::vector<std::string_view> forms);
/// Whether `-o` asks for data, which is JSON or YAML.
bool wants_data(const cli::Arguments& arguments);
/// `json` as `-o` asks for it: as it is, or as YAML.
std::string data_text(const cli::Arguments& arguments, const std::string& json);

/// JSON, YAML or a template filled in. Precondition: neither a table nor a name.
Result<std::string> object_text(const Output& output, const nlohmann::json& object);
/// v1 List, as `kubectl get` gives several objects.
nlohmann::json list_of(std::vector<nlohmann::json> objects);

/// `text` parsed; null when it is no JSON.
nlohmann::json parsed_json(std::string_view text);
/// The same without metadata.managedFields, which are mostly the larger half of an object and are read by few.
nlohmann::json plain_object(std::string_view text);

}  // namespace edge::edgectl
