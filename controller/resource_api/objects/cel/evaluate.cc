// Evaluates a tree over JSON. An error is a value until a logical operator absorbs it, as in CEL: `true || error` is
// true, whichever side the error is on.
#include <algorithm>
#include <charconv>
#include <optional>

#include <nlohmann/json.hpp>
#include <re2/re2.h>

#include "controller/resource_api/objects/cel/node.h"

namespace edge::resource_api::objects {
namespace {

using Node = CelRule::Node;
using Kind = Node::Kind;

constexpr std::size_t kMaxSteps = 1'000'000;
constexpr std::int64_t kPatternMemory = std::int64_t{1} << 20;

/// A value of the object, or a computed one. Without JSON: an error.
struct Value {
  const Json* json = nullptr;
  std::shared_ptr<const Json> made{};
  bool is_duration = false;  ///< in nanoseconds

  static Value of(const Json& json) { return {&json}; }
  static Value make(Json json) {
    auto made = std::make_shared<const Json>(std::move(json));
    return {made.get(), made};
  }
  bool ok() const { return json != nullptr; }
  bool is(bool wanted) const { return json != nullptr && json->is_boolean() && json->get<bool>() == wanted; }
};

/// `1h30m`, `1.5s`, as Go's time.ParseDuration reads them; in nanoseconds.
std::optional<std::int64_t> nanoseconds_of(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ns", 1},  {"us", 1e3}, {"\u00b5s", 1e3}, {"ms", 1e6},
                                                            {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
  const double sign = text.starts_with('-') ? -1 : 1;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view unit = text.substr(0, std::min(text.find_first_of("0123456789."), text.size()));
    const auto* known = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
    if (known == std::ranges::end(kUnits)) return std::nullopt;
    total += number * known->second;
    text.remove_prefix(unit.size());
  }
  constexpr double kLongest = 9.2e18;
  if (total > kLongest) return std::nullopt;
  return static_cast<std::int64_t>(sign * total);
}

class Evaluator {
 public:
  Evaluator(const Json& self, const Json* old_self) {
    variables_.emplace_back("self", Value::of(self));
    if (old_self != nullptr) variables_.emplace_back("oldSelf", Value::of(*old_self));
  }

  Value value(const Node& node);

 private:
  Value name(const Node& node) const;
  Value field(const Node& node);
  Value index(const Node& node);
  Value has(const Node& node);
  Value call(const Node& node);
  Value test_text(const Node& node, const Json& text, const Json& argument);
  Value macro(const Node& node);
  Value logic(const Node& node, bool deciding);
  Value binary(const Node& node);
  Value sum(const Node& node, const Value& left, const Value& right);
  Value list(const Node& node);

  std::vector<std::pair<std::string_view, Value>> variables_;
  std::size_t steps_ = 0;
};

Value Evaluator::name(const Node& node) const {
  for (auto at = variables_.rbegin(); at != variables_.rend(); ++at) {
    if (at->first == node.text) return at->second;
  }
  return {};
}

/// A part of a made value lives as long as that.
Value part(const Value& whole, const Json& inner) { return {&inner, whole.made}; }

Value Evaluator::field(const Node& node) {
  const Value object = value(*node.children[0]);
  if (!object.ok() || !object.json->is_object()) return {};
  const auto found = object.json->find(node.text);
  return found == object.json->end() ? Value() : part(object, *found);
}

Value Evaluator::index(const Node& node) {
  const Value object = value(*node.children[0]);
  const Value at = value(*node.children[1]);
  if (!object.ok() || !at.ok()) return {};
  if (object.json->is_object() && at.json->is_string()) {
    const auto found = object.json->find(at.json->get_ref<const std::string&>());
    return found == object.json->end() ? Value() : part(object, *found);
  }
  if (!object.json->is_array() || !at.json->is_number_integer()) return {};
  const auto position = at.json->get<std::int64_t>();
  if (position < 0 || static_cast<std::size_t>(position) >= object.json->size()) return {};
  return part(object, (*object.json)[static_cast<std::size_t>(position)]);
}

Value Evaluator::has(const Node& node) {
  const Value object = value(*node.children[0]->children[0]);
  if (!object.ok() || !object.json->is_object()) return {};
  const auto found = object.json->find(node.children[0]->text);
  return Value::make(found != object.json->end() && !found->is_null());
}

Value Evaluator::test_text(const Node& node, const Json& text, const Json& argument) {
  const std::string& subject = text.get_ref<const std::string&>();
  const std::string& sought = argument.get_ref<const std::string&>();
  if (node.text == "startsWith") return Value::make(subject.starts_with(sought));
  if (node.text == "endsWith") return Value::make(subject.ends_with(sought));
  if (node.text == "contains") return Value::make(subject.find(sought) != std::string::npos);
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  const re2::RE2 pattern(sought, options);
  // To compile it is the work.
  constexpr std::size_t kCompile = 200;
  steps_ += kCompile + sought.size() + subject.size() / 16;
  return pattern.ok() ? Value::make(re2::RE2::PartialMatch(subject, pattern)) : Value();
}

Value Evaluator::call(const Node& node) {
  const Value first = value(*node.children[0]);
  if (!first.ok()) return {};
  const Json& json = *first.json;
  if (node.text == "size") {
    if (json.is_structured()) return Value::make(std::int64_t(json.size()));
    if (!json.is_string()) return {};
    const std::string& text = json.get_ref<const std::string&>();
    return Value::make(std::int64_t(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; })));
  }
  if (node.text == "duration") {
    const auto length = json.is_string() ? nanoseconds_of(json.get_ref<const std::string&>()) : std::nullopt;
    if (!length) return {};
    Value made = Value::make(*length);
    made.is_duration = true;
    return made;
  }
  if (node.text == "string") {
    return json.is_structured() || first.is_duration
               ? Value()
               : Value::make(json.is_string() ? json.get<std::string>() : json.dump());
  }
  if (node.text == "int") return json.is_number() ? Value::make(json.get<std::int64_t>()) : Value();
  const Value argument = value(*node.children[1]);
  if (!json.is_string() || !argument.ok() || !argument.json->is_string()) return {};
  return test_text(node, json, *argument.json);
}

Value Evaluator::macro(const Node& node) {
  const Value range = value(*node.children[0]);
  if (!range.ok() || !range.json->is_structured()) return {};
  const Json& json = *range.json;
  Json collected = Json::array();
  std::size_t holding = 0;
  bool failed = false;
  const bool all = node.text == "all";
  for (auto at = json.begin(); at != json.end(); ++at) {
    // Over a map its keys are what is named.
    const Value item = json.is_object() ? Value::make(at.key()) : part(range, *at);
    variables_.emplace_back(node.variable, item);
    const Value result = value(*node.children[1]);
    variables_.pop_back();
    if (steps_ > kMaxSteps) return {};
    if (node.text == "map") {
      if (!result.ok()) return {};
      collected.push_back(*result.json);
      continue;
    }
    if (!result.ok() || !result.json->is_boolean()) {
      failed = true;
      continue;
    }
    if (all && result.is(false)) return Value::make(false);
    if (node.text == "exists" && result.is(true)) return Value::make(true);
    if (result.is(true)) {
      ++holding;
      if (node.text == "filter") collected.push_back(*item.json);
    }
  }
  if (failed) return {};
  if (node.text == "map" || node.text == "filter") return Value::make(std::move(collected));
  if (node.text == "exists_one") return Value::make(holding == 1);
  return Value::make(all);
}

/// `deciding`: what either side settles it with.
Value Evaluator::logic(const Node& node, bool deciding) {
  const Value left = value(*node.children[0]);
  if (left.is(deciding)) return left;
  const Value right = value(*node.children[1]);
  if (right.is(deciding)) return right;
  if (!left.is(!deciding) || !right.is(!deciding)) return {};
  return left;
}

Value Evaluator::sum(const Node& node, const Value& left, const Value& right) {
  const Json& a = *left.json;
  const Json& b = *right.json;
  const bool plus = node.text == "+";
  if (a.is_string() && b.is_string() && plus) {
    steps_ += (a.get_ref<const std::string&>().size() + b.get_ref<const std::string&>().size()) / 16;
    return Value::make(a.get<std::string>() + b.get<std::string>());
  }
  if (a.is_number_integer() && b.is_number_integer()) {
    std::int64_t out = 0;
    const bool overflow = plus ? __builtin_add_overflow(a.get<std::int64_t>(), b.get<std::int64_t>(), &out)
                               : __builtin_sub_overflow(a.get<std::int64_t>(), b.get<std::int64_t>(), &out);
    return overflow ? Value() : Value::make(out);
  }
  if (!a.is_number() || !b.is_number()) return {};
  return Value::make(plus ? a.get<double>() + b.get<double>() : a.get<double>() - b.get<double>());
}

Value Evaluator::binary(const Node& node) {
  const Value left = value(*node.children[0]);
  const Value right = value(*node.children[1]);
  if (!left.ok() || !right.ok()) return {};
  if (node.text == "==") return Value::make(*left.json == *right.json);
  if (node.text == "!=") return Value::make(*left.json != *right.json);
  if (node.text == "+" || node.text == "-") return sum(node, left, right);
  if (node.text == "in") {
    if (right.json->is_array()) {
      steps_ += right.json->size();
      return Value::make(std::ranges::find(*right.json, *left.json) != right.json->end());
    }
    if (!right.json->is_object() || !left.json->is_string()) return {};
    return Value::make(right.json->contains(left.json->get_ref<const std::string&>()));
  }
  const bool comparable =
      (left.json->is_number() && right.json->is_number()) || (left.json->is_string() && right.json->is_string());
  if (!comparable) return {};
  if (node.text == "<") return Value::make(*left.json < *right.json);
  if (node.text == "<=") return Value::make(*left.json <= *right.json);
  if (node.text == ">") return Value::make(*left.json > *right.json);
  return Value::make(*left.json >= *right.json);
}

Value Evaluator::list(const Node& node) {
  Json items = Json::array();
  for (const auto& child : node.children) {
    const Value item = value(*child);
    if (!item.ok()) return {};
    items.push_back(*item.json);
  }
  return Value::make(std::move(items));
}

Value Evaluator::value(const Node& node) {
  if (++steps_ > kMaxSteps) return {};
  switch (node.kind) {
    case Kind::kLiteral:
      return Value::of(*node.value);
    case Kind::kName:
      return name(node);
    case Kind::kField:
      return field(node);
    case Kind::kIndex:
      return index(node);
    case Kind::kHas:
      return has(node);
    case Kind::kCall:
      return call(node);
    case Kind::kMacro:
      return macro(node);
    case Kind::kList:
      return list(node);
    case Kind::kNot: {
      const Value inner = value(*node.children[0]);
      return inner.ok() && inner.json->is_boolean() ? Value::make(inner.is(false)) : Value();
    }
    case Kind::kNegative: {
      const Value inner = value(*node.children[0]);
      if (!inner.ok() || !inner.json->is_number()) return {};
      if (inner.json->is_number_float()) return Value::make(-inner.json->get<double>());
      const auto number = inner.json->get<std::int64_t>();
      return number == INT64_MIN ? Value() : Value::make(-number);
    }
    case Kind::kOr:
      return logic(node, true);
    case Kind::kAnd:
      return logic(node, false);
    case Kind::kBinary:
      return binary(node);
    case Kind::kConditional: {
      const Value condition = value(*node.children[0]);
      if (!condition.ok() || !condition.json->is_boolean()) return {};
      return value(*node.children[condition.is(true) ? 1 : 2]);
    }
  }
  return {};
}

}  // namespace

CelOutcome evaluate_cel(const Node& node, const Json& self, const Json* old_self) {
  const Value outcome = Evaluator(self, old_self).value(node);
  if (outcome.is(true)) return CelOutcome::kTrue;
  return outcome.is(false) ? CelOutcome::kFalse : CelOutcome::kError;
}

}  // namespace edge::resource_api::objects
