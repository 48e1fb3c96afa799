// JSON Schema (draft 7) for editors: completion, texts and faults while a resource is typed.
#pragma once

#include <string>

#include "schemas/schema.h"

namespace edge::schemas {

/// Of one own kind. Precondition: kind.manifest != nullptr.
std::string json_schema(const Kind& kind);
/// Of any own kind, told apart by `kind`: what a folder of resources is checked against.
std::string json_schema();

}  // namespace edge::schemas
