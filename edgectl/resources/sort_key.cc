#include "edgectl/resources/sort_key.h"

namespace edge::edgectl {

Result<SortKey> SortKey::parse(std::string_view path) {
  SortKey key;
  std::string fault;
  key.path_ = resource_api::objects::JsonPath::parse(path, fault);
  if (key.path_) return key;
  return Error{ErrorCode::kInvalidArgument,
               "--sort-by takes a path such as .metadata.name, not `" + std::string(path) + "`: " + fault};
}

nlohmann::json SortKey::value_in(const nlohmann::json& object) const {
  const auto found = path_->find(object);
  return found.empty() ? nlohmann::json() : *found.front();
}

void SortKey::sort(std::vector<nlohmann::json>& objects) const {
  sort(objects, [](const nlohmann::json& object) -> const nlohmann::json& { return object; });
}

}  // namespace edge::edgectl
