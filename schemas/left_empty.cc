#include "schemas/left_empty.h"

#include <string>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::schemas {
namespace {

using Json = nlohmann::json;

bool restore(const Object& schema, const Json& applied, Json& object) {
  if (!applied.is_object() || !object.is_object()) return false;
  bool any = false;
  for (const Field& field : schema.fields) {
    const std::string name(field.name);
    const auto written = applied.find(name);
    if (written == applied.end()) continue;
    const auto there = object.find(name);
    if (written->is_null()) {
      if (!field.narrows || there != object.end()) continue;
      object[name] = nullptr;
      any = true;
    } else if (there == object.end() || field.object == nullptr) {
      continue;
    } else if (field.type == Type::kObject) {
      any |= restore(*field.object, *written, *there);
    } else if (written->is_array() && there->is_array() && written->size() == there->size()) {
      for (std::size_t i = 0; i < there->size(); ++i) any |= restore(*field.object, (*written)[i], (*there)[i]);
    }
  }
  return any;
}

}  // namespace

bool restore_left_empty(const Kind& kind, Json& object) {
  if (!kind.own) return false;
  const std::string& text = text_in(member_in(member_in(object, "metadata"), "annotations"), kLastApplied);
  // Most files have none.
  if (text.find("null") == std::string::npos) return false;
  return restore(*kind.body, parse_json(text), object);
}

}  // namespace edge::schemas
