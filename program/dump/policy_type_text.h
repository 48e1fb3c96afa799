// The names of policy types, as users write them.
#pragma once

#include <string_view>

#include "program/format/policies.h"

namespace edge::program {

/// As in `spec.type`; "?" when unknown.
std::string_view policy_type_text(PolicyType type);

}  // namespace edge::program
