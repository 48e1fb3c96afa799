#include "schemas/openapi.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schemas/formats.h"

namespace edge::schemas {
namespace {

using Json = nlohmann::ordered_json;

Json number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Json scalar_default(std::string_view text, Type type) {
  if (type == Type::kBoolean) return text == "true";
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (type == Type::kInteger || (type == Type::kIntOrString && digits)) return number(text);
  return std::string(text);
}

/// Formats that a cluster and editors know by name. An address of a block may stand without its prefix length.
void add_named_format(Format format, Dialect dialect, Json& schema) {
  const auto any_of = [&](std::vector<const char*> names) {
    for (const char* name : names) schema["anyOf"].push_back({{"format", name}});
  };
  if (format == Format::kTimestamp) schema["format"] = "date-time";
  if (format == Format::kIp) any_of({"ipv4", "ipv6"});
  // `cidr` is a format of Kubernetes alone.
  if (format == Format::kCidr && dialect == Dialect::kCluster) any_of({"cidr", "ipv4", "ipv6"});
}

void add_pattern(const Field& field, Json& schema) {
  const std::string_view pattern = format_pattern(field.format);
  if (!pattern.empty()) schema["pattern"] = std::string(pattern);
}

void add_text_rules(const Field& field, Dialect dialect, Json& schema) {
  if (!field.values.empty()) {
    for (const std::string_view value : field.values) schema["enum"].push_back(std::string(value));
    return;
  }
  add_named_format(field.format, dialect, schema);
  if (const std::uint32_t longest = format_length(field.format); longest != 0) schema["maxLength"] = longest;
  add_pattern(field, schema);
}

void add_number_rules(const Field& field, Json& schema) {
  for (const std::string_view value : field.values) schema["enum"].push_back(number(value));
  if (field.minimum != kNoMinimum) schema["minimum"] = field.minimum;
  if (field.maximum != kNoMaximum) schema["maximum"] = field.maximum;
}

Json int_or_string_schema(const Field& field, Dialect dialect) {
  Json schema;
  if (dialect == Dialect::kCluster) {
    schema["anyOf"] = Json::array({{{"type", "integer"}}, {{"type", "string"}}});
    schema["x-kubernetes-int-or-string"] = true;
  } else {
    schema["type"] = Json::array({"integer", "string"});
  }
  add_number_rules(field, schema);
  add_pattern(field, schema);
  return schema;
}

Json value_schema(const Field& field, Type type, Dialect dialect) {
  Json schema;
  switch (type) {
    case Type::kString:
      // A size may be a bare number of bytes.
      if (field.format == Format::kSize) {
        schema = int_or_string_schema(field, dialect);
        schema["minimum"] = 0;
        return schema;
      }
      schema["type"] = "string";
      add_text_rules(field, dialect, schema);
      return schema;
    case Type::kInteger:
      schema["type"] = "integer";
      if (dialect == Dialect::kCluster) schema["format"] = "int64";
      add_number_rules(field, schema);
      return schema;
    case Type::kBoolean:
      return {{"type", "boolean"}};
    case Type::kObject:
      return object_schema(*field.object, dialect);
    case Type::kStringMap:
      return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
    case Type::kIntOrString:
      return int_or_string_schema(field, dialect);
    case Type::kAny:
      if (dialect == Dialect::kEditor) return Json::object();
      return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    case Type::kList:
      break;
  }
  schema["type"] = "array";
  schema["maxItems"] = field.most;
  if (dialect == Dialect::kCluster) {
    schema["x-kubernetes-list-type"] = field.key.empty() ? "atomic" : "map";
    if (!field.key.empty()) schema["x-kubernetes-list-map-keys"] = Json::array({std::string(field.key)});
  }
  schema["items"] = value_schema(field, field.item, dialect);
  return schema;
}

/// Fields that go with one value of `type`: with it they are required, with another refused.
Json type_variants(const Object& object) {
  std::vector<const Field*> bound;
  for (const Field& field : object.fields) {
    if (!field.goes_with.empty()) bound.push_back(&field);
  }
  Json variants = Json::array();
  for (const Field* field : bound) {
    Json variant;
    variant["properties"]["type"]["enum"] = Json::array({std::string(field->goes_with)});
    variant["required"] = Json::array({std::string(field->name)});
    for (const Field* other : bound) {
      if (other == field) continue;
      variant["not"]["anyOf"].push_back({{"required", Json::array({std::string(other->name)})}});
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace

Json default_value(const Field& field) {
  if (field.type != Type::kList) return scalar_default(field.default_value, field.type);
  Json list = Json::array();
  std::string_view rest = field.default_value;
  rest = rest.substr(1, rest.size() - 2);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    list.push_back(scalar_default(rest.substr(0, comma), field.item));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return list;
}

Json field_schema(const Field& field, Dialect dialect) {
  Json schema;
  schema["description"] = std::string(field.text);
  schema.update(value_schema(field, field.type, dialect));
  if (field.narrows && dialect == Dialect::kCluster) schema["nullable"] = true;
  // Of two forms of one setting a default would contradict the one that is written.
  if (!field.default_value.empty() && field.other_form.empty()) schema["default"] = default_value(field);
  return schema;
}

Json object_schema(const Object& object, Dialect dialect, const Object* status) {
  Json schema;
  schema["type"] = "object";
  for (const Field& field : object.fields) {
    Json& property = schema["properties"][std::string(field.name)];
    property = field_schema(field, dialect);
    if (field.name != "status" || status == nullptr) continue;
    property = {{"description", std::string(field.text)}};
    property.update(object_schema(*status, dialect));
  }
  for (const Field& field : object.fields) {
    if (field.required) schema["required"].push_back(std::string(field.name));
  }
  if (const Json variants = type_variants(object); !variants.empty()) schema["oneOf"] = variants;
  if (dialect == Dialect::kEditor && !object.open) schema["additionalProperties"] = false;
  if (dialect == Dialect::kEditor) return schema;
  for (const Rule& rule : object.rules) {
    schema["x-kubernetes-validations"].push_back(
        {{"rule", std::string(rule.expression)}, {"message", std::string(rule.text)}});
  }
  return schema;
}

}  // namespace edge::schemas
