// Keys without a value (null) in fields that narrow (Field::narrows), which `kubectl apply` leaves out of what it
// sends: only its annotation has them. For whoever compiles an object of a cluster.
#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "schemas/schema.h"

namespace edge::schemas {

/// What kubectl keeps of the file that it has applied last.
inline constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// Puts null back into the fields of `object` that narrow, are not there, and have no value in the annotation. Whoever
/// writes the annotation can have an object refused, and no more. Other objects than maps stay as they are. \returns
/// whether there was one.
bool restore_left_empty(const Kind& kind, nlohmann::json& object);

}  // namespace edge::schemas
