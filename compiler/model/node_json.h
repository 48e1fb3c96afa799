// Converts a document to JSON, for an API server that knows its kind.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compiler/yaml/document.h"

namespace edge::compiler::model {

/// Plain scalars are typed by YAML 1.2's core schema (§10.3.2), as elsewhere here: `yes` is a string, `0x1f` a number.
/// Numbers that JSON lacks (`.inf`, `.nan`) stay strings. The reader limits the depth of nodes.
nlohmann::json json_of(const yaml::Node& node);

}  // namespace edge::compiler::model
