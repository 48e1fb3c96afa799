// OpenAPI 2.0 as the message `openapi.v2.Document` that kubectl requests. Field numbers are those of gnostic's
// OpenAPIv2.proto; fields that our documents do not use are not written.
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/text/protobuf_writer.h"
#include "controller/resource_api/http/openapi.h"

namespace edge::resource_api::http {
namespace {

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

void put_text(ProtobufWriter& out, unsigned field, const Json& object, const char* name) {
  if (const Json* value = member(object, name); value != nullptr && value->is_string()) {
    out.text(field, value->get_ref<const std::string&>());
  }
}

void put_flag(ProtobufWriter& out, unsigned field, const Json& object, const char* name) {
  if (const Json* value = member(object, name); value != nullptr && value->is_boolean()) {
    out.number(field, value->get<bool>() ? 1 : 0);
  }
}

/// Any: JSON is YAML.
void put_any(ProtobufWriter& out, unsigned field, const Json& value) {
  const auto any = out.message(field);
  out.text(2, json_line(value));
}

/// NamedAny, one for each extension.
void put_extensions(ProtobufWriter& out, unsigned field, const Json& object) {
  for (const auto& [name, value] : object.items()) {
    if (!name.starts_with("x-")) continue;
    const auto named = out.message(field);
    out.text(1, name);
    put_any(out, 2, value);
  }
}

void put_schema(ProtobufWriter& out, const Json& schema);

/// NamedSchema, one for each member.
void put_schemas(ProtobufWriter& out, const Json& members) {
  for (const auto& [name, schema] : members.items()) {
    const auto named = out.message(1);
    out.text(1, name);
    const auto value = out.message(2);
    put_schema(out, schema);
  }
}

void put_additional(ProtobufWriter& out, const Json& additional) {
  const auto item = out.message(21);
  if (additional.is_boolean()) {
    out.number(2, additional.get<bool>() ? 1 : 0);
    return;
  }
  const auto schema = out.message(1);
  put_schema(out, additional);
}

void put_bounds(ProtobufWriter& out, const Json& schema) {
  static constexpr std::pair<const char*, unsigned> kDoubles[] = {{"multipleOf", 6}, {"maximum", 7}, {"minimum", 9}};
  static constexpr std::pair<const char*, unsigned> kCounts[] = {{"maxLength", 11},     {"minLength", 12},
                                                                 {"maxItems", 14},      {"minItems", 15},
                                                                 {"maxProperties", 17}, {"minProperties", 18}};
  for (const auto& [name, field] : kDoubles) {
    if (const Json* value = member(schema, name); value != nullptr && value->is_number()) {
      out.real(field, value->get<double>());
    }
  }
  for (const auto& [name, field] : kCounts) {
    if (const Json* value = member(schema, name); value != nullptr && value->is_number_unsigned()) {
      out.number(field, value->get<std::uint64_t>());
    }
  }
}

void put_schema(ProtobufWriter& out, const Json& schema) {
  put_text(out, 1, schema, "$ref");
  put_text(out, 2, schema, "format");
  put_text(out, 3, schema, "title");
  put_text(out, 4, schema, "description");
  if (const Json* value = member(schema, "default")) put_any(out, 5, *value);
  put_bounds(out, schema);
  put_text(out, 13, schema, "pattern");
  if (const Json* required = member(schema, "required"); required != nullptr && required->is_array()) {
    for (const Json& name : *required) {
      if (name.is_string()) out.text(19, name.get_ref<const std::string&>());
    }
  }
  if (const Json* values = member(schema, "enum"); values != nullptr && values->is_array()) {
    for (const Json& value : *values) put_any(out, 20, value);
  }
  if (const Json* additional = member(schema, "additionalProperties")) put_additional(out, *additional);
  if (const Json* type = member(schema, "type"); type != nullptr && type->is_string()) {
    const auto item = out.message(22);
    out.text(1, type->get_ref<const std::string&>());
  }
  if (const Json* items = member(schema, "items")) {
    const auto item = out.message(23);
    const auto one = out.message(1);
    put_schema(out, *items);
  }
  if (const Json* properties = member(schema, "properties")) {
    const auto all = out.message(25);
    put_schemas(out, *properties);
  }
  put_extensions(out, 31, schema);
}

/// ParametersItem -> Parameter -> NonBodyParameter -> one of two.
void put_parameter(ProtobufWriter& out, unsigned field, const Json& parameter) {
  const auto item = out.message(field);
  const auto any = out.message(1);
  const auto non_body = out.message(2);
  const bool in_path = parameter["in"] == "path";
  const auto one = out.message(in_path ? 4 : 3);
  put_flag(out, 1, parameter, "required");
  put_text(out, 2, parameter, "in");
  put_text(out, 4, parameter, "name");
  put_text(out, in_path ? 5 : 6, parameter, "type");
}

void put_operation(ProtobufWriter& out, const Json& operation) {
  put_text(out, 5, operation, "operationId");
  for (const Json& parameter : operation["parameters"]) put_parameter(out, 8, parameter);
  {
    const auto responses = out.message(9);
    for (const auto& [code, response] : operation["responses"].items()) {
      const auto named = out.message(1);
      out.text(1, code);
      const auto value = out.message(2);
      const auto plain = out.message(1);
      put_text(out, 1, response, "description");
    }
  }
  put_extensions(out, 13, operation);
}

void put_path(ProtobufWriter& out, const Json& item) {
  static constexpr std::pair<const char*, unsigned> kMethods[] = {
      {"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  for (const auto& [method, field] : kMethods) {
    if (const Json* operation = member(item, method)) {
      const auto message = out.message(field);
      put_operation(out, *operation);
    }
  }
  if (const Json* parameters = member(item, "parameters")) {
    for (const Json& parameter : *parameters) put_parameter(out, 9, parameter);
  }
}

}  // namespace

std::string openapi_v2_protobuf(const Json& document) {
  ProtobufWriter out;
  put_text(out, 1, document, "swagger");
  {
    const auto info = out.message(2);
    put_text(out, 1, document["info"], "title");
    put_text(out, 2, document["info"], "version");
  }
  {
    const auto paths = out.message(8);
    for (const auto& [name, item] : document["paths"].items()) {
      const auto named = out.message(2);
      out.text(1, name);
      const auto value = out.message(2);
      put_path(out, item);
    }
  }
  {
    const auto definitions = out.message(9);
    put_schemas(out, document["definitions"]);
  }
  return out.take();
}

}  // namespace edge::resource_api::http
