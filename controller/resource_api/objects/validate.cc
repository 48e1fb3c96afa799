// Validates values against a schema. Messages are those of an API server, which uses the OpenAPI validators.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/cel/cel.h"
#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/schema_parts.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

std::string_view type_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object:
      return "object";
    case Json::value_t::array:
      return "array";
    case Json::value_t::string:
      return "string";
    case Json::value_t::boolean:
      return "boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "integer";
    case Json::value_t::number_float:
      return "number";
    default:
      return "null";
  }
}

std::string_view type_name(SchemaType type) {
  switch (type) {
    case SchemaType::kObject:
      return "object";
    case SchemaType::kArray:
      return "array";
    case SchemaType::kString:
      return "string";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kIntOrString:
      return "integer,string";
    case SchemaType::kAny:
      break;
  }
  return "any";
}

/// 1.0 is an integer too.
bool whole(const Json& value) {
  if (value.is_number_integer()) return true;
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  return std::floor(number) == number && std::abs(number) <= 9007199254740992.0;
}

bool has_type(const Json& value, SchemaType type) {
  switch (type) {
    case SchemaType::kAny:
      return true;
    case SchemaType::kObject:
      return value.is_object();
    case SchemaType::kArray:
      return value.is_array();
    case SchemaType::kString:
      return value.is_string();
    case SchemaType::kInteger:
      return whole(value);
    case SchemaType::kNumber:
      return value.is_number();
    case SchemaType::kBoolean:
      return value.is_boolean();
    case SchemaType::kIntOrString:
      return whole(value) || value.is_string();
  }
  return false;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

/// `1`, `0.5`: as a schema writes its bounds.
std::string number_text(double value) {
  return whole(value) ? std::to_string(static_cast<std::int64_t>(value)) : Json(value).dump();
}

class Validator {
 public:
  explicit Validator(Causes& causes) : causes_(causes) {}

  void value(const Schema& schema, const Json& value, const Json* old, const std::string& path);

 private:
  bool full() const { return causes_.size() >= kMaxCauses; }
  void fault(Cause cause) {
    if (!full()) causes_.push_back(std::move(cause));
  }
  void in_body(const std::string& path, const Json& value, std::initializer_list<std::string_view> what) {
    fault(value_invalid(path, value, words({path.empty() ? "<nil>" : path, " in body ", words(what)})));
  }
  void wrong_type(const std::string& path, const Json& value, std::string_view expected) {
    const std::string type(type_name(value));
    fault(value_type_invalid(path, type, words({path, " in body must be of type ", expected, ": \"", type, "\""})));
  }
  /// Of no interest but whether there is any.
  bool fits(const Schema& schema, const Json& tested, const std::string& path) {
    Causes causes;
    Validator(causes).value(schema, tested, nullptr, path);
    return causes.empty();
  }

  void object(const Schema& schema, const Json& value, const Json* old, const std::string& path);
  void list(const Schema& schema, const Json& value, const Json* old, const std::string& path);
  void duplicates(const Schema& schema, const Json& value, const std::string& path);
  void rules(const ValueRules& rules, const Json& value, const std::string& path);
  void number(const ValueRules& rules, const Json& value, const std::string& path);
  void text(const ValueRules& rules, const Json& value, const std::string& path);
  void counts(const ValueRules& rules, const Json& value, const std::string& path);
  void logic(const ValueRules& rules, const Json& value, const std::string& path);
  const Json* old_item(const Schema& schema, const Json& item, const Json* old);

  Causes& causes_;
};

void Validator::number(const ValueRules& rules, const Json& value, const std::string& path) {
  const double number = value.get<double>();
  if (rules.minimum &&
      (number < rules.minimum->value || (rules.minimum->exclusive && number == rules.minimum->value))) {
    in_body(
        path, value,
        {"should be greater than ", rules.minimum->exclusive ? "" : "or equal to ", number_text(rules.minimum->value)});
  }
  if (rules.maximum &&
      (number > rules.maximum->value || (rules.maximum->exclusive && number == rules.maximum->value))) {
    in_body(
        path, value,
        {"should be less than ", rules.maximum->exclusive ? "" : "or equal to ", number_text(rules.maximum->value)});
  }
  if (rules.multiple_of) {
    const double times = number / *rules.multiple_of;
    if (std::abs(times - std::round(times)) > 1e-9) {
      in_body(path, value, {"should be a multiple of ", number_text(*rules.multiple_of)});
    }
  }
  constexpr double kInt32 = 2147483648.0;
  if (rules.format == "int32" && (number < -kInt32 || number >= kInt32)) {
    in_body(path, value, {"must be of type int32: \"", value.dump(), "\""});
  }
}

void Validator::text(const ValueRules& rules, const Json& value, const std::string& path) {
  const std::string& text = value.get_ref<const std::string&>();
  if (rules.min_length || rules.max_length) {
    const std::size_t length = code_points(text);
    if (rules.max_length && length > *rules.max_length) fault(value_too_long(path, *rules.max_length));
    if (rules.min_length && length < *rules.min_length) {
      in_body(path, value, {"should be at least ", std::to_string(*rules.min_length), " chars long"});
    }
  }
  if (rules.pattern != nullptr && !rules.pattern->is_in(text)) {
    in_body(path, value, {"should match '", rules.pattern->text(), "'"});
  }
  if (!rules.format.empty() && !has_format(text, rules.format)) {
    in_body(path, value, {"must be of type ", rules.format, ": ", in_quotes(text.substr(0, 128))});
  }
}

void Validator::counts(const ValueRules& rules, const Json& value, const std::string& path) {
  const std::size_t count = value.size();
  if (value.is_array()) {
    if (rules.max_items && count > *rules.max_items) fault(value_too_many(path, count, *rules.max_items));
    if (rules.min_items && count < *rules.min_items) {
      fault(value_invalid(path, count,
                          words({path, " in body should have at least ", std::to_string(*rules.min_items), " items"})));
    }
    return;
  }
  if (rules.max_properties && count > *rules.max_properties) fault(value_too_many(path, count, *rules.max_properties));
  if (rules.min_properties && count < *rules.min_properties) {
    fault(value_invalid(
        path, count,
        words({path, " in body should have at least ", std::to_string(*rules.min_properties), " properties"})));
  }
  for (const std::string& name : rules.required) {
    if (!value.contains(name)) fault(value_required(below(path, name)));
  }
}

void Validator::logic(const ValueRules& rules, const Json& value, const std::string& path) {
  const auto reported = [&](std::string_view what) {
    fault(value_invalid(path, "", words({"\"", path, "\" ", what})));
  };
  for (const SchemaPtr& part : rules.all_of) this->value(*part, value, nullptr, path);
  if (!rules.any_of.empty() &&
      std::ranges::none_of(rules.any_of, [&](const SchemaPtr& part) { return fits(*part, value, path); })) {
    reported("must validate at least one schema (anyOf)");
  }
  if (!rules.one_of.empty()) {
    const auto count =
        std::ranges::count_if(rules.one_of, [&](const SchemaPtr& part) { return fits(*part, value, path); });
    if (count == 0) reported("must validate one and only one schema (oneOf). Found none valid");
    if (count > 1) {
      reported(words(
          {"must validate one and only one schema (oneOf). Found ", std::to_string(count), " valid alternatives"}));
    }
  }
  if (rules.negated != nullptr && fits(*rules.negated, value, path)) reported("must not validate the schema (not)");
}

void Validator::rules(const ValueRules& rules, const Json& value, const std::string& path) {
  if (rules.values != nullptr && std::ranges::find(*rules.values, value) == rules.values->end()) {
    std::vector<std::string> supported;
    for (const Json& one : *rules.values) supported.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    fault(value_not_supported(path, value, supported));
  }
  if (value.is_number()) number(rules, value, path);
  if (value.is_string()) text(rules, value, path);
  if (value.is_structured()) counts(rules, value, path);
  logic(rules, value, path);
}

void Validator::object(const Schema& schema, const Json& value, const Json* old, const std::string& path) {
  for (const auto& [name, field] : value.items()) {
    if (full()) return;
    const Json* before = nullptr;
    if (old != nullptr && old->is_object()) {
      if (const auto found = old->find(name); found != old->end()) before = &*found;
    }
    if (const Schema* known = schema.field(name); known != nullptr) {
      this->value(*known, field, before, below(path, name));
    } else if (schema.additional != nullptr) {
      this->value(*schema.additional, field, before, below(path, name));
    }
  }
}

void Validator::duplicates(const Schema& schema, const Json& value, const std::string& path) {
  const bool unique = schema.rules != nullptr && schema.rules->unique_items;
  if (schema.list_type != ListType::kSet && schema.list_type != ListType::kMap && !unique) return;
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < value.size() && !full(); ++i) {
    Json key = value[i];
    if (schema.list_type == ListType::kMap) {
      if (!value[i].is_object()) continue;
      key = Json::object();
      for (const std::string& name : schema.map_keys) {
        if (const auto found = value[i].find(name); found != value[i].end()) key[name] = *found;
      }
    }
    if (!seen.insert(json_line(key)).second) {
      fault(value_duplicate(below(path, i), key));
    }
  }
}

const Json* Validator::old_item(const Schema& schema, const Json& item, const Json* old) {
  if (old == nullptr || !old->is_array() || schema.list_type != ListType::kMap || !item.is_object()) return nullptr;
  const auto same = [&](const Json& other) {
    return other.is_object() && std::ranges::all_of(schema.map_keys, [&](const std::string& key) {
             const auto a = item.find(key);
             const auto b = other.find(key);
             return (a == item.end()) == (b == other.end()) && (a == item.end() || *a == *b);
           });
  };
  const auto found = std::ranges::find_if(*old, same);
  return found == old->end() ? nullptr : &*found;
}

void Validator::list(const Schema& schema, const Json& value, const Json* old, const std::string& path) {
  if (schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size() && !full(); ++i) {
      this->value(*schema.items, value[i], old_item(schema, value[i], old), below(path, i));
    }
  }
  duplicates(schema, value, path);
}

void Validator::value(const Schema& schema, const Json& value, const Json* old, const std::string& path) {
  if (full()) return;
  if (value.is_null()) {
    if (!schema.nullable && schema.type != SchemaType::kAny) wrong_type(path, value, type_name(schema.type));
    return;
  }
  if (!has_type(value, schema.type)) return wrong_type(path, value, type_name(schema.type));
  const std::size_t before = causes_.size();
  if (schema.embedded_resource && value.is_object()) {
    for (const char* name : {"apiVersion", "kind"}) {
      const auto found = value.find(name);
      if (found == value.end() || !found->is_string()) fault(value_required(below(path, name), "must not be empty"));
    }
  }
  if (schema.rules != nullptr) rules(*schema.rules, value, path);
  if (value.is_object()) object(schema, value, old, path);
  if (value.is_array()) list(schema, value, old, path);
  // As an API server does: rules see values that have their types.
  if (schema.rules == nullptr || causes_.size() != before) return;
  for (const auto& rule : schema.rules->cel) {
    if (auto cause = rule->broken_by(value, old, path)) fault(std::move(*cause));
  }
}

}  // namespace

void validate(const Schema& schema, const Json& object, const Json* old, Causes& causes) {
  Validator validator(causes);
  if (!object.is_object()) {
    causes.push_back(value_type_invalid("", object, "must be an object"));
    return;
  }
  // metadata has rules of its own.
  Json body = object;
  body.erase("metadata");
  validator.value(schema, body, old, "");
}

void validate_at(const Schema& schema, const Json& value, std::string_view path, Causes& causes) {
  Validator(causes).value(schema, value, nullptr, std::string(path));
}

}  // namespace edge::resource_api::objects
