// get and list: what is there, now or at the version that a list began with.
#pragma once

#include <cstdint>

#include "controller/resource_api/api.h"
#include "controller/resource_api/requests/request.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

/// `now`: seconds since 1970.
ApiReply get(Store& store, const Operation& op, std::int64_t now);
/// 410 when the version to list at is forgotten, 504 when it is not reached yet, 413 when the answer would be too long.
ApiReply list(Store& store, const Operation& op, const ApiLimits& limits, std::int64_t now);

/// What a list or watch of `op` would show now, in order.
std::vector<ObjectPtr> select(const Collection& collection, const Operation& op);

/// 504: a version that has not been given out. Clients try again.
objects::StatusError version_too_large(std::int64_t version, std::int64_t current);

}  // namespace edge::resource_api
