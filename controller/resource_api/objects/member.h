// Looking into JSON of which nothing is known.
#pragma once

#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

/// The member of that name; null when there is none, or `object` is no object.
const Json& member(const Json& object, std::string_view name);
/// The string itself; empty for what is none. Valid as long as `value`.
std::string_view text_of(const Json& value);
/// As JSON on one line. What is no UTF-8 is replaced: objects come from anybody.
std::string json_text(const Json& value);

}  // namespace edge::resource_api::objects
