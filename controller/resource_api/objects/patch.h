// Patches: JSON patch (RFC 6902), JSON merge patch (RFC 7386) and Kubernetes' strategic merge patch. Functions of the
// object and the patch: what comes out is validated by the caller like any other write.
#pragma once

#include <cstddef>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// As an API server bounds them.
inline constexpr std::size_t kMaxPatchOperations = 10'000;
/// Copies of a JSON patch may together write so much text.
inline constexpr std::size_t kMaxCopiedBytes = std::size_t{3} << 20;

/// 400 when the patch is no list of operations; 422 when one of them fails (a test that does not hold, a path that is
/// not there). 413 above the bounds.
Answer<Json> json_patch(const Json& object, const Json& patch);

/// 400 when the patch is not an object.
Answer<Json> merge_patch(const Json& object, const Json& patch);

/// By the merge keys and strategies of `schema`, with the directives `$patch` (replace, delete, merge), `$retainKeys`,
/// `$deleteFromPrimitiveList/<list>`, `$setElementOrder/<list>`. Of kinds that are built in alone: for custom ones an
/// API server answers 415, which the caller does.
Answer<Json> strategic_merge_patch(const Json& object, const Json& patch, const Schema& schema);

}  // namespace edge::resource_api::objects
