// Conditions as they stand in a status, less the times of their transitions (status_document.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "compiler/link/conditions.h"

namespace edge::controller {

/// Bytes of a message; what is longer is cut (metav1.Condition allows 32768).
inline constexpr std::size_t kMaxMessage = 1024;
/// Entries of status.ancestors (GEP-713 allows no more).
inline constexpr std::size_t kMaxAncestors = 16;

nlohmann::json conditions_json(const std::vector<compiler::Condition>& conditions, std::int64_t generation);

}  // namespace edge::controller
