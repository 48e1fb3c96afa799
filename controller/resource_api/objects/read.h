// Parses request bodies: untrusted JSON, limited in depth, with duplicate keys reported.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

inline constexpr std::size_t kMaxDepth = 100;

/// Parses `text`. Of duplicate keys the last value is used; its path is added to `duplicates` (if given), worded as by
/// strict decoding: `duplicate field "spec.x"`, at most kMaxCauses. 400 when it is not JSON or nested deeper than
/// kMaxDepth. The value may be of any JSON type.
Answer<Json> read_json(std::string_view text, std::vector<std::string>* duplicates = nullptr);

/// The same; the value must be an object.
Answer<Json> read_object(std::string_view text, std::vector<std::string>* duplicates = nullptr);

}  // namespace edge::resource_api::objects
