#include "controller/resource_api/requests/selectors.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/labels.h"
#include "controller/resource_api/objects/metadata.h"

namespace edge::resource_api {
namespace {

using objects::Answer;
using objects::Json;
using objects::StatusError;
using Operator = LabelRequirement::Operator;

StatusError unparsable(std::string_view why) {
  return objects::bad_request("unable to parse requirement: " + std::string(why));
}

/// Tokenizes a label selector.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view peek() {
    const std::size_t was = at_;
    const std::string_view token = take();
    at_ = was;
    return token;
  }
  std::string_view take() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    const std::size_t begin = at_;
    if (at_ == text_.size()) return {};
    if (text_.substr(at_).starts_with("!=") || text_.substr(at_).starts_with("==")) {
      at_ += 2;
    } else if (is_sign(text_[at_])) {
      ++at_;
    } else {
      while (at_ < text_.size() && !is_sign(text_[at_]) && !is_space(text_[at_])) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  static bool is_word(std::string_view token) { return !token.empty() && !is_sign(token.front()); }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_sign(char c) { return std::string_view("=!(),<>").find(c) != std::string_view::npos; }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<StatusError> read_values(Scanner& scanner, LabelRequirement& requirement) {
  if (scanner.take() != "(") return unparsable("found '" + std::string(scanner.peek()) + "', expected: '('");
  bool open = true;
  while (open) {
    // `(a,)` and `()` name the empty value, as they do in Kubernetes.
    const bool word = Scanner::is_word(scanner.peek());
    requirement.values.emplace_back(word ? scanner.take() : std::string_view());
    if (requirement.values.size() > kMaxRequirements) return unparsable("too many values");
    const std::string_view next = scanner.take();
    if (next != "," && next != ")") return unparsable("found '" + std::string(next) + "', expected: ',' or ')'");
    open = next == ",";
  }
  return std::nullopt;
}

std::optional<StatusError> check(const LabelRequirement& requirement) {
  if (!is_label_key(requirement.key)) {
    return unparsable("<nil>: Invalid value: \"" + requirement.key + "\": is not a valid label key");
  }
  const bool ordered = requirement.test == Operator::kGreater || requirement.test == Operator::kLess;
  for (const std::string& value : requirement.values) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (ordered && (error != std::errc{} || end != value.data() + value.size())) {
      return unparsable("values[0][" + requirement.key + "]: Invalid value: \"" + value +
                        "\": for 'Gt', 'Lt' operators, the value must be an integer");
    }
    if (!is_label_value(value)) {
      return unparsable("values[0][" + requirement.key + "]: Invalid value: \"" + value +
                        "\": is not a valid label value");
    }
  }
  return std::nullopt;
}

Answer<LabelRequirement> read_requirement(Scanner& scanner) {
  LabelRequirement requirement;
  if (scanner.peek() == "!") {
    scanner.take();
    requirement.test = Operator::kDoesNotExist;
  }
  const std::string_view key = scanner.take();
  if (!Scanner::is_word(key)) return unparsable("found '" + std::string(key) + "', expected: identifier");
  requirement.key = key;
  const std::string_view sign = scanner.peek();
  if (requirement.test == Operator::kDoesNotExist || sign.empty() || sign == ",") {
    // The key alone.
  } else if (scanner.take(); sign == "in" || sign == "notin") {
    requirement.test = sign == "in" ? Operator::kIn : Operator::kNotIn;
    if (auto fault = read_values(scanner, requirement)) return *fault;
  } else if (sign == "=" || sign == "==" || sign == "!=" || sign == ">" || sign == "<") {
    requirement.test = sign == "!="  ? Operator::kNotIn
                       : sign == ">" ? Operator::kGreater
                       : sign == "<" ? Operator::kLess
                                     : Operator::kIn;
    const bool word = Scanner::is_word(scanner.peek());
    requirement.values.emplace_back(word ? scanner.take() : std::string_view());
  } else {
    return unparsable("found '" + std::string(sign) + "', expected: in, notin, =, ==, !=, gt, lt");
  }
  if (auto fault = check(requirement)) return *fault;
  return requirement;
}

bool holds(const LabelRequirement& requirement, const std::string* value) {
  const auto named = [&] {
    return value != nullptr &&
           std::find(requirement.values.begin(), requirement.values.end(), *value) != requirement.values.end();
  };
  switch (requirement.test) {
    case Operator::kIn:
      return named();
    case Operator::kNotIn:
      return !named();  // an absent label too
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreater:
    case Operator::kLess:
      break;
  }
  if (value == nullptr) return false;
  std::int64_t has = 0;
  std::int64_t bound = 0;
  const std::string& text = requirement.values.front();
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), has);
  if (error != std::errc{} || end != value->data() + value->size()) return false;
  std::from_chars(text.data(), text.data() + text.size(), bound);
  return requirement.test == Operator::kGreater ? has > bound : has < bound;
}

/// A term of a field selector up to the next comma that no backslash hides.
std::string_view take_term(std::string_view& rest) {
  std::size_t at = 0;
  while (at < rest.size() && rest[at] != ',') at += rest[at] == '\\' ? 2 : 1;
  at = std::min(at, rest.size());
  const std::string_view term = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return term;
}

Answer<FieldRequirement> read_field(std::string_view term) {
  const std::size_t sign = term.find_first_of("=!");
  const auto fault = [&] {
    return objects::bad_request("invalid selector: '" + std::string(term) + "'; can't understand '" +
                                std::string(term) + "'");
  };
  if (sign == std::string_view::npos) return fault();
  FieldRequirement requirement;
  requirement.field = term.substr(0, sign);
  std::string_view value = term.substr(sign);
  if (value.starts_with("!=")) requirement.equal = false;
  if (!value.starts_with("!=") && !value.starts_with("=")) return fault();
  value.remove_prefix(value.starts_with("!=") || value.starts_with("==") ? 2 : 1);
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '=') return fault();
    if (value[i] == '\\' && ++i == value.size()) return fault();
    requirement.value += value[i];
  }
  return requirement;
}

/// What a selector compares of a field that is not there: in Kubernetes' types a flag is false and a text empty.
std::string absent_value(std::string_view path) {
  return path == "spec.unschedulable" || path == "spec.hostNetwork" ? "false" : "";
}

/// The value at `path` (`spec.nodeName`) as a selector compares it; absent: empty.
std::string field_value(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto found = at->is_object() ? at->find(std::string(path.substr(0, dot))) : at->end();
    if (!at->is_object() || found == at->end()) return {};
    at = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (at->is_string()) return at->get<std::string>();
  // `source` of an event is a component.
  if (at->is_object()) return field_value(*at, "component");
  return at->is_boolean() || at->is_number() ? at->dump() : std::string();
}

/// Events are kept in the form of the core group; the newer group has other names for the same.
void to_stored_field(const ResourceType& type, std::string& field) {
  if (type.group == "events.k8s.io") {
    if (field.starts_with("regarding.")) field = "involvedObject." + field.substr(10);
    if (field == "reportingController") field = "reportingComponent";
  }
}

}  // namespace

Answer<std::vector<LabelRequirement>> parse_label_selector(std::string_view text) {
  std::vector<LabelRequirement> requirements;
  if (text.size() > kMaxSelectorBytes) return objects::bad_request("the label selector is too long");
  Scanner scanner(text);
  if (scanner.peek().empty()) return requirements;
  while (true) {
    auto requirement = read_requirement(scanner);
    if (!requirement) return requirement.error();
    requirements.push_back(std::move(*requirement));
    if (requirements.size() > kMaxRequirements) return unparsable("too many requirements");
    const std::string_view next = scanner.take();
    if (next.empty()) return requirements;
    if (next != ",") return unparsable("found '" + std::string(next) + "', expected: ',' or 'end of string'");
  }
}

Answer<Selector> Selector::parse(std::string_view labels, std::string_view fields, const ResourceType& type) {
  Selector selector;
  auto requirements = parse_label_selector(labels);
  if (!requirements) return requirements.error();
  selector.labels_ = std::move(*requirements);
  if (fields.size() > kMaxSelectorBytes) return objects::bad_request("the field selector is too long");
  while (!fields.empty()) {
    const std::string_view term = take_term(fields);
    if (term.empty()) continue;
    auto requirement = read_field(term);
    if (!requirement) return requirement.error();
    const std::string& field = requirement->field;
    const bool known = field == "metadata.name" || (field == "metadata.namespace" && type.namespaced) ||
                       std::find(type.selectable_fields.begin(), type.selectable_fields.end(), "." + field) !=
                           type.selectable_fields.end();
    if (!known) return objects::bad_request("field label not supported: " + field);
    to_stored_field(type, requirement->field);
    selector.fields_.push_back(std::move(*requirement));
    if (selector.fields_.size() > kMaxRequirements) return objects::bad_request("the field selector is too long");
  }
  return selector;
}

bool Selector::matches(const Object& object) const {
  for (const LabelRequirement& requirement : labels_) {
    const auto label = std::find_if(object.labels.begin(), object.labels.end(),
                                    [&](const auto& entry) { return entry.first == requirement.key; });
    if (!holds(requirement, label == object.labels.end() ? nullptr : &label->second)) return false;
  }
  Json parsed;
  for (const FieldRequirement& requirement : fields_) {
    std::string value;
    if (requirement.field == "metadata.name") {
      value = object.key.name;
    } else if (requirement.field == "metadata.namespace") {
      value = object.key.name_space;
    } else {
      // Few ask for these, so that no index is kept of them.
      if (parsed.is_null()) parsed = Json::parse(object.text, nullptr, false);
      value = field_value(parsed, requirement.field);
      if (value.empty()) value = absent_value(requirement.field);
    }
    if ((value == requirement.value) != requirement.equal) return false;
  }
  return true;
}

std::string_view Selector::name() const {
  for (const FieldRequirement& requirement : fields_) {
    if (requirement.field == "metadata.name" && requirement.equal) return requirement.value;
  }
  return {};
}

}  // namespace edge::resource_api
