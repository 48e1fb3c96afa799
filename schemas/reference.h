// The reference pages docs/reference/*.md, made from the tables.
#pragma once

#include <string>

#include "schemas/schema.h"

namespace edge::schemas {

/// Returns the page of one own kind. Precondition: kind.manifest != nullptr.
std::string reference_page(const Kind& kind);
/// Returns README.md: every own kind in one line.
std::string reference_index();

}  // namespace edge::schemas
