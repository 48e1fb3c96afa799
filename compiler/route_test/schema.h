// The fields of a RouteTest, as a table: validation and its near names come from it, as for every resource.
#pragma once

#include "schemas/schema.h"

namespace edge::compiler::route_test {

/// The whole document.
extern const schemas::Object kDocument;

}  // namespace edge::compiler::route_test
