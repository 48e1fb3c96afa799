#include "controller/kube/json.h"

#include <nlohmann/json.hpp>

#include "controller/kube/object.h"

namespace edge::kube {
namespace {

/// Trees are written by recursion.
bool too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  if (too_deep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
}

const nlohmann::json& member_of(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNull;
  if (!object.is_object()) return kNull;
  const auto place = object.find(key);
  return place == object.end() ? kNull : *place;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const nlohmann::json& member = member_of(object, key);
  return member.is_string() ? member.get<std::string>() : std::string();
}

}  // namespace edge::kube
