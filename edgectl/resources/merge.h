// What `apply` sends: the change from what is there to what the file says, by what the file said last (three-way merge,
// as `kubectl apply` does it for custom resources: JSON merge patches, RFC 7386).
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// Where kubectl, and we, write what was applied last; either can go on where the other left off.
inline constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// `object` with the annotation that says what it is; an annotation that is there is not part of what it says.
nlohmann::json with_last_applied(nlohmann::json object);
/// What the annotation of `live` says; an object without fields where there is none or it cannot be read.
nlohmann::json last_applied(const nlohmann::json& live);

/// The merge patch that brings `live` to `wanted`: fields that `wanted` has are set, fields that `last` had and
/// `wanted` has no longer are removed, what others added stays. Lists are set as a whole. Empty: there is nothing to
/// do.
nlohmann::json three_way_patch(const nlohmann::json& last, const nlohmann::json& live, const nlohmann::json& wanted);

/// The merge patch from `before` to `after`: what an editor changed.
nlohmann::json merge_patch_between(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace edge::edgectl
