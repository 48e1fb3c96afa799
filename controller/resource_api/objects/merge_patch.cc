// JSON Merge Patch (RFC 7386).
#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/patch.h"

namespace edge::resource_api::objects {
namespace {

void merge(Json& target, const Json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = Json::object();
  for (const auto& [name, value] : patch.items()) {
    if (value.is_null()) {
      target.erase(name);
    } else {
      merge(target[name], value);
    }
  }
}

}  // namespace

Answer<Json> merge_patch(const Json& object, const Json& patch) {
  if (!patch.is_object()) return bad_request("error decoding patch: a merge patch is an object");
  Json merged = object;
  merge(merged, patch);
  return merged;
}

}  // namespace edge::resource_api::objects
