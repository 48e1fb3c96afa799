// Looking into JSON of which nothing is known.
#pragma once

#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// The member of that name; null when there is none, or `object` is no object.
const Json& member(const Json& object, std::string_view name);

}  // namespace edge::resource_api::objects
