#include "controller/resource_api/objects/member.h"

#include <nlohmann/json.hpp>

namespace edge::resource_api::objects {

const Json& member(const Json& object, std::string_view name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

}  // namespace edge::resource_api::objects
