#include "base/text/json.h"

#include <nlohmann/json.hpp>

namespace edge {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

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
      if (++depth > kMaxJsonDepth) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

template <typename Tree>
Tree parse(std::string_view text) {
  // Before the parser, which would build the tree down to its depth first.
  if (too_deep(text)) return Tree(Tree::value_t::discarded);
  return Tree::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

template <typename Tree>
std::string dump(const Tree& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Tree::error_handler_t::replace);
}

}  // namespace

Json parse_json(std::string_view text) { return parse<Json>(text); }
OrderedJson parse_ordered_json(std::string_view text) { return parse<OrderedJson>(text); }

const Json& member_in(const Json& object, std::string_view name) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(name);
  return found == object.end() ? kNothing : *found;
}

const Json& list_in(const Json& object, std::string_view name) {
  static const Json kNothing = Json::array();
  const Json& list = member_in(object, name);
  return list.is_array() ? list : kNothing;
}

const std::string& text_value(const Json& value) {
  static const std::string kNothing;
  const auto* const text = value.get_ptr<const std::string*>();
  return text == nullptr ? kNothing : *text;
}

const std::string& text_in(const Json& object, std::string_view name) { return text_value(member_in(object, name)); }

std::int64_t integer_in(const Json& object, std::string_view name) {
  const Json& number = member_in(object, name);
  return number.is_number_integer() ? number.get<std::int64_t>() : 0;
}

std::string json_line(const Json& value) { return dump(value, -1); }
std::string json_line(const OrderedJson& value) { return dump(value, -1); }
std::string indented_json(const Json& value, int indent) { return dump(value, indent) + "\n"; }
std::string indented_json(const OrderedJson& value, int indent) { return dump(value, indent) + "\n"; }

}  // namespace edge
