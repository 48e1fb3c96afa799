// A document as JSON, for whoever hands it on as it stands: to an API server, which knows its kind.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compiler/yaml/document.h"

namespace edge::compiler::model {

/// Plain scalars are typed by YAML 1.2's core schema (§10.3.2), as they are everywhere else here: `yes` is a string,
/// `0x1f` a number. What JSON has no number for (`.inf`, `.nan`) stays a string. Nodes are as deep as the reader lets
/// them be.
nlohmann::json json_of(const yaml::Node& node);

}  // namespace edge::compiler::model
