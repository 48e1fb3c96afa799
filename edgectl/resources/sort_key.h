// `get --sort-by PATH`: the sort key of objects.
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
  /// Parses `.metadata.creationTimestamp`, with or without braces. kInvalidArgument: not a path.
  static Result<SortKey> parse(std::string_view path);

  /// Sorts stably, ascending by the first value at the path: objects without one first, then numbers by size, then
  /// strings by bytes, which sorts RFC 3339 times.
  void sort(std::vector<nlohmann::json>& objects) const;
  /// The same for items that belong to objects.
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
