// Members of JSON that nobody vouches for: of another type they are as if they were not there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// null: it is no JSON, or nested deeper than any answer is.
nlohmann::json read_json(std::string_view text);
const nlohmann::json& member_at(const nlohmann::json& object, const char* name);
/// An empty list without it.
const nlohmann::json& list_at(const nlohmann::json& object, const char* name);
/// Text as it is, numbers and truths as JSON writes them.
std::string text_at(const nlohmann::json& object, const char* name);
/// Of a number, or of text that is one.
std::int64_t number_at(const nlohmann::json& object, const char* name);

}  // namespace edge::edgectl
