// What of an object is federated: less what belongs to one cluster. Fields that this version does not know stay.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace edge::federation {

/// Label of an object that another cluster made: that cluster's name. It does not travel.
inline constexpr std::string_view kOriginLabel = EDGE_API_GROUP "/origin-cluster";

/// Whether `status` travels too.
enum class WithStatus : bool { kNo, kYes };

/// Returns the content of a version for an object as the API has it: its members in one order, without status, and of
/// its metadata the name, the namespace, labels and annotations. kInvalidArgument: it is no object.
Result<std::string> content_of(std::string_view object, WithStatus with_status);
/// The same of an object that was read already; it is used up.
Result<std::string> content_of_json(nlohmann::json&& object, WithStatus with_status);

/// Returns what is applied to the API for the content of a version; with the origin as label, unless it is empty.
Result<std::string> object_of(std::string_view content, std::string_view origin);

}  // namespace edge::federation
