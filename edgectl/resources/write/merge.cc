#include "edgectl/resources/write/merge.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// Fields of `wanted` that `live` has not, or has otherwise.
void add_changes(const Json& live, const Json& wanted, Json& patch) {
  for (const auto& [key, value] : wanted.items()) {
    const auto there = live.find(key);
    if (there == live.end()) {
      // A null would remove what is not there.
      if (!value.is_null()) patch[key] = value;
      continue;
    }
    if (value.is_object() && there->is_object()) {
      Json below = Json::object();
      add_changes(*there, value, below);
      if (!below.empty()) patch[key] = std::move(below);
    } else if (*there != value) {
      patch[key] = value;
    }
  }
}

/// Fields of `last` that `wanted` has no longer and `live` still has.
void add_removals(const Json& last, const Json& live, const Json& wanted, Json& patch) {
  for (const auto& [key, value] : last.items()) {
    const auto there = live.find(key);
    if (there == live.end()) continue;
    const auto now = wanted.find(key);
    if (now == wanted.end()) {
      patch[key] = nullptr;
    } else if (value.is_object() && there->is_object() && now->is_object()) {
      Json below = patch.contains(key) && patch[key].is_object() ? patch[key] : Json::object();
      add_removals(value, *there, *now, below);
      if (!below.empty()) patch[key] = std::move(below);
    }
  }
}

}  // namespace

Json with_last_applied(Json object) {
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  Json& annotations = metadata["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations.erase(kLastApplied);
  const std::string text = json_line(object) + "\n";
  annotations[kLastApplied] = text;
  return object;
}

Json last_applied(const Json& live) {
  Json read = parse_json(text_in(member_in(member_in(live, "metadata"), "annotations"), kLastApplied));
  return read.is_object() ? read : Json::object();
}

Json three_way_patch(const Json& last, const Json& live, const Json& wanted) {
  Json patch = Json::object();
  add_changes(live, wanted, patch);
  add_removals(last, live, wanted, patch);
  return patch;
}

Json merge_patch_between(const Json& before, const Json& after) { return three_way_patch(before, before, after); }

}  // namespace edge::edgectl
