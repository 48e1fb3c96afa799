// get and list, for the current state or the version at which a list began.
#pragma once

#include <cstdint>

#include "controller/resource_api/api.h"
#include "controller/resource_api/requests/request.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

/// `now`: seconds since 1970.
ApiReply get(Store& store, const Operation& op, std::int64_t now);
/// 410 when the requested version is no longer in the history, 504 when it is in the future, 413 when the response
/// would be too long.
ApiReply list(Store& store, const Operation& op, const ApiLimits& limits, std::int64_t now);

/// Returns the objects that a list or watch of `op` would return now, in order.
std::vector<ObjectPtr> select(const Collection& collection, const Operation& op);

/// 504: a version that has not been assigned yet. Clients retry.
objects::StatusError version_too_large(std::int64_t version, std::int64_t current);

}  // namespace edge::resource_api
