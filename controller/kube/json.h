// Small documents of the API as trees: statuses, leases, discovery. Objects and lists are read without (object.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace edge::kube {

/// Discarded (`is_discarded()`) when the text is not JSON or is nested deeper than kMaxDepth.
nlohmann::json parse_json(std::string_view text);
/// The member's text; empty when there is none, or it is no string, or `object` is no object.
std::string text_of(const nlohmann::json& object, const char* key);
/// The member; a null value when there is none.
const nlohmann::json& member_of(const nlohmann::json& object, const char* key);

}  // namespace edge::kube
