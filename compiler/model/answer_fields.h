// The fields that the proxy writes into its own answers, and that a FixedResponse therefore cannot set.
#pragma once

#include <string_view>

#include "base/field_name.h"
#include "program/filter_table.h"

namespace edge::compiler::model {

/// In any spelling (base/field_name.h).
inline bool is_reserved_from_answers(std::string_view name) {
  return program::is_reserved_from_policies(name) || same_field(name, "date") || same_field(name, "x-edge-reason");
}

}  // namespace edge::compiler::model
