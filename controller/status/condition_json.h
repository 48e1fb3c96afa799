// Conditions as they stand in a status, less the times of their transitions (status_document.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "compiler/link/conditions.h"

namespace edge::controller {

/// Bytes of a message; what is longer is cut (metav1.Condition allows 32768).
inline constexpr std::size_t kMaxMessage = 1024;
/// Entries of status.ancestors (GEP-713 allows no more).
inline constexpr std::size_t kMaxAncestors = 16;

/// Of what agents report: of the generation that `status` is of. The message is cut.
nlohmann::json condition_json(const nlohmann::json& status, const char* type, const char* state,
                              std::string_view reason, std::string_view message);
inline const char* state_text(bool holds) { return holds ? "True" : "False"; }

/// So many of all, and `1/2` as a column has it.
nlohmann::json ready_count(std::uint64_t ready, std::uint64_t total);

nlohmann::json conditions_json(const std::vector<compiler::Condition>& conditions, std::int64_t generation);

}  // namespace edge::controller
