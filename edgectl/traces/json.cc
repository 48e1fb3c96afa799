#include "edgectl/traces/json.h"

#include <charconv>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string text_at(const Json& object, const char* name) {
  const Json& value = member_in(object, name);
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  return json_line(value);
}

std::int64_t number_at(const Json& object, const char* name) {
  const Json& value = member_in(object, name);
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const std::string* const text = value.get_ptr<const std::string*>();
  std::int64_t number = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

}  // namespace edge::edgectl
