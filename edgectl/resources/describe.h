// Describes one object: its spec, its conditions, and its events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// `events`: core/v1 Events about the object, in any order. `now` in seconds since 1970, for ages. Of Secrets only the
/// sizes of values are shown.
std::string describe(const nlohmann::json& object, const std::vector<nlohmann::json>& events, std::int64_t now);

/// The same as data: `object` and `events`.
nlohmann::json description(nlohmann::json object, const std::vector<nlohmann::json>& events);

/// Returns `Conditions:` with one line each, or that there are none; preceded by `title`.
std::string conditions_table(const std::string& title, const nlohmann::json& conditions, std::int64_t now);

}  // namespace edge::edgectl
