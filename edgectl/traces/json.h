// Members of answers about traces, which writers type in several ways.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// Text as it is, numbers and truths as JSON writes them.
std::string text_at(const nlohmann::json& object, const char* name);
/// Of a number, or of text that is one.
std::int64_t number_at(const nlohmann::json& object, const char* name);

}  // namespace edge::edgectl
