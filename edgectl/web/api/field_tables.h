// The fields of a kind as tables, for completion in the browser.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "schemas/schema.h"

namespace edge::edgectl::web {

/// Returns {kind, objects}: `objects` is a list of lists of fields, the first for the root; a field's `object` is an
/// index into it, or null. Objects that occur at several places are listed once.
nlohmann::ordered_json field_tables_json(const schemas::Kind& kind);

}  // namespace edge::edgectl::web
