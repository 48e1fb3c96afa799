// Patches: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes' strategic merge patch. Pure functions of
// object and patch: the caller validates the result like any other write.
#pragma once

#include <cstddef>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// The limit of an API server.
inline constexpr std::size_t kMaxPatchOperations = 10'000;
/// Limit in bytes of the text that copy operations of one JSON patch may create.
inline constexpr std::size_t kMaxCopiedBytes = std::size_t{3} << 20;

/// Applies a JSON patch. 400 when it is not a list of operations; 422 when one of them fails (a failing test, a missing
/// path). 413 above the limits.
Answer<Json> json_patch(const Json& object, const Json& patch);

/// Applies a merge patch. 400 when it is not an object.
Answer<Json> merge_patch(const Json& object, const Json& patch);

/// Applies a strategic merge patch by the merge keys and strategies of `schema`, with the directives `$patch` (replace,
/// delete, merge), `$retainKeys`, `$deleteFromPrimitiveList/<list>`, `$setElementOrder/<list>`. For built-in kinds
/// only: custom ones get 415, as from an API server, by the caller.
Answer<Json> strategic_merge_patch(const Json& object, const Json& patch, const Schema& schema);

}  // namespace edge::resource_api::objects
