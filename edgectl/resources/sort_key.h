// `get --sort-by PATH`: what objects are put in order by.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "controller/resource_api/objects/table.h"

namespace edge::edgectl {

class SortKey {
 public:
  /// `.metadata.creationTimestamp`, with braces or without. kInvalidArgument: it is no path.
  static Result<SortKey> parse(std::string_view path);

  /// Stable and ascending by the first value at the path: objects without one come first, then numbers by size, then
  /// texts by their bytes, as times in RFC 3339 want it.
  void sort(std::vector<nlohmann::json>& objects) const;
  /// The same for what belongs to objects.
  template <typename Item, typename ObjectOf>
  void sort(std::vector<Item>& items, const ObjectOf& object_of) const {
    std::stable_sort(items.begin(), items.end(), [&](const Item& one, const Item& other) {
      return value_in(object_of(one)) < value_in(object_of(other));
    });
  }

 private:
  nlohmann::json value_in(const nlohmann::json& object) const;

  std::shared_ptr<const resource_api::objects::JsonPath> path_;
};

}  // namespace edge::edgectl
