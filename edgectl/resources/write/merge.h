// Computes what `apply` sends: a three-way merge of the last applied, the live and the new object, as `kubectl apply`
// does for custom resources (JSON merge patches, RFC 7386).
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// The annotation in which kubectl and edgectl store what was last applied; each can continue from the other's.
inline constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// Returns `object` with this annotation; an existing one is not included in its value.
nlohmann::json with_last_applied(nlohmann::json object);
/// Returns the annotation's value of `live`; an object without fields where it is missing or invalid.
nlohmann::json last_applied(const nlohmann::json& live);

/// Returns the merge patch from `live` to `wanted`: fields in `wanted` are set, fields in `last` but not in `wanted`
/// are removed, fields added by others stay. Lists are replaced as a whole. Empty: nothing to do.
nlohmann::json three_way_patch(const nlohmann::json& last, const nlohmann::json& live, const nlohmann::json& wanted);

/// Returns the merge patch from `before` to `after`: the changes made in an editor.
nlohmann::json merge_patch_between(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace edge::edgectl
