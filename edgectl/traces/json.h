// Reads members of trace responses, whose types vary between servers.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// Returns text unchanged, numbers and booleans as JSON.
std::string text_at(const nlohmann::json& object, const char* name);
/// Returns a number, or a number in text.
std::int64_t number_at(const nlohmann::json& object, const char* name);

}  // namespace edge::edgectl
