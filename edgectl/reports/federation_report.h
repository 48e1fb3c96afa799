// Formats what a controller says of federation (docs/federation.md, "The controller's pages"). Everything in it is
// untrusted text: members that are missing are shown as unknown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// `now`: seconds since 1970, for ages.
std::string federation_status_text(const nlohmann::json& status, std::int64_t now);
std::string federation_peers_table(const nlohmann::json& peers, bool wide, std::int64_t now);
std::string federation_conflicts_table(const nlohmann::json& conflicts, std::int64_t now);
/// The versions of one conflict, numbered, and how each loser differs from the winner.
std::string federation_conflict_text(const nlohmann::json& conflict, std::int64_t now);
std::string federation_clock_text(const nlohmann::json& clock, std::int64_t now);
std::string federation_preview_table(const nlohmann::json& items);

/// Returns one line for each field in which two objects differ, `spec.rules[0].weight: 10 -> 20`; at most `limit`, then
/// how many more.
std::vector<std::string> field_differences(const nlohmann::json& before, const nlohmann::json& after,
                                           std::size_t limit);

/// Of the versions of a conflict, `winner` first.
std::vector<nlohmann::json> federation_versions(const nlohmann::json& conflict);

}  // namespace edge::edgectl
