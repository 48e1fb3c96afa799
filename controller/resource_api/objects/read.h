// A request's body as an object: JSON from outside, bounded in depth, with the keys that were written twice.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

inline constexpr std::size_t kMaxDepth = 100;

/// Parses `text`. Of a key written twice the last value holds; its path goes to `duplicates` (when asked for), worded
/// as strict decoding words it: `duplicate field "spec.x"`, at most kMaxCauses.
/// 400 when it is not JSON or nests deeper than kMaxDepth. The value may be of any JSON type.
Answer<Json> read_json(std::string_view text, std::vector<std::string>* duplicates = nullptr);

/// The same, and the value must be an object.
Answer<Json> read_object(std::string_view text, std::vector<std::string>* duplicates = nullptr);

}  // namespace edge::resource_api::objects
