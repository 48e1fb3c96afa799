// Formats JSON as YAML in block style.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace edge::schemas {

/// Keys in the order of the value; strings plain where they parse as the same string, else quoted.
std::string yaml_text(const nlohmann::ordered_json& value);

}  // namespace edge::schemas
