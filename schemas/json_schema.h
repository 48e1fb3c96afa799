// JSON Schema (draft 7) for editors: completion, descriptions and errors while typing.
#pragma once

#include <string>

#include "schemas/schema.h"

namespace edge::schemas {

/// For one own kind. Precondition: kind.manifest != nullptr.
std::string json_schema(const Kind& kind);
/// For any own kind, selected by `kind`: for directories of resources.
std::string json_schema();

}  // namespace edge::schemas
