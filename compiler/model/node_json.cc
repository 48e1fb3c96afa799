#include "compiler/model/node_json.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "compiler/model/formats.h"

namespace edge::compiler::model {
namespace {

using Json = nlohmann::json;

template <typename Number>
std::optional<Number> parsed(std::string_view text, int base) {
  Number number{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parsed_float(std::string_view text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// from_chars takes no `+`.
std::string_view without_plus(std::string_view text) { return text.starts_with('+') ? text.substr(1) : text; }

Json float_of(std::string_view text) {
  const auto number = parsed_float(without_plus(text));
  return number ? Json(*number) : Json(std::string(text));
}

Json integer_of(std::string_view text) {
  const std::string_view digits = without_plus(text);
  const bool negative = digits.starts_with('-');
  const std::string_view bare = digits.substr(negative ? 1 : 0);
  const bool prefixed = bare.starts_with("0x") || bare.starts_with("0o");
  if (prefixed) {
    const std::string signed_text = (negative ? "-" : "") + std::string(bare.substr(2));
    const int base = bare[1] == 'x' ? 16 : 8;
    if (const auto number = parsed<std::int64_t>(signed_text, base)) return *number;
    return Json(std::string(text));
  }
  if (const auto number = parsed<std::int64_t>(digits, 10)) return *number;
  if (const auto number = parsed<std::uint64_t>(digits, 10)) return *number;
  return float_of(text);
}

Json scalar_of(const yaml::NodeData& node) {
  if (node.style != yaml::Style::kPlain) return Json(std::string(node.text));
  switch (plain_type(node.text)) {
    case PlainType::kString:
      break;
    case PlainType::kBoolean:
      return Json(node.text.starts_with('t') || node.text.starts_with('T'));
    case PlainType::kInteger:
      return integer_of(node.text);
    case PlainType::kFloat:
      return float_of(node.text);
  }
  return Json(std::string(node.text));
}

}  // namespace

Json json_of(const yaml::Node& node) {
  switch (node.kind()) {
    case yaml::NodeKind::kNull:
      return nullptr;
    case yaml::NodeKind::kScalar:
      return scalar_of(node.data());
    case yaml::NodeKind::kMap: {
      Json object = Json::object();
      for (const yaml::Node child : node) object[std::string(child.key())] = json_of(child);
      return object;
    }
    case yaml::NodeKind::kList: {
      Json list = Json::array();
      for (const yaml::Node child : node) list.push_back(json_of(child));
      return list;
    }
  }
  return nullptr;
}

}  // namespace edge::compiler::model
