#include "edgectl/traces/json.h"

#include <charconv>

#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr int kMostNesting = 64;

}  // namespace

Json read_json(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= kMostNesting; };
  Json json = Json::parse(text, shallow, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json() : json;
}

const Json& member_at(const Json& object, const char* name) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

const Json& list_at(const Json& object, const char* name) {
  static const Json kEmpty = Json::array();
  const Json& list = member_at(object, name);
  return list.is_array() ? list : kEmpty;
}

std::string text_at(const Json& object, const char* name) {
  const Json& value = member_at(object, name);
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t number_at(const Json& object, const char* name) {
  const Json& value = member_at(object, name);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const std::string* const text = value.get_ptr<const std::string*>();
  std::int64_t number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

}  // namespace edge::edgectl
