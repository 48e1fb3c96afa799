#include "controller/resource_api/http/openapi_shapes.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/built_in/built_in.h"

namespace edge::resource_api::http {
namespace {

Json typed(const char* type, const char* description) { return {{"type", type}, {"description", description}}; }

Json map_of_strings(const char* description) {
  Json map = typed("object", description);
  map["additionalProperties"] = {{"type", "string"}};
  return map;
}

Json time(const char* description) {
  Json value = typed("string", description);
  value["format"] = "date-time";
  return value;
}

Json number(const char* description) {
  Json value = typed("integer", description);
  value["format"] = "int64";
  return value;
}

Json owner_references() {
  Json one = typed("object", "An object that this one belongs to, of the same namespace or of none.");
  one["required"] = {"apiVersion", "kind", "name", "uid"};
  one["properties"] = {
      {"apiVersion", typed("string", "API version of the owner.")},
      {"kind", typed("string", "Kind of the owner.")},
      {"name", typed("string", "Name of the owner.")},
      {"uid", typed("string", "UID of the owner.")},
      {"controller", typed("boolean", "Whether the owner is the one that manages this object.")},
      {"blockOwnerDeletion", typed("boolean", "Whether the owner waits for this object to go first.")}};
  Json list = typed("array", "Objects that this one belongs to: it goes when all of them have gone.");
  list["items"] = one;
  list["x-kubernetes-patch-merge-key"] = "uid";
  list["x-kubernetes-patch-strategy"] = "merge";
  list["x-kubernetes-list-type"] = "map";
  list["x-kubernetes-list-map-keys"] = {"uid"};
  return list;
}

Json managed_fields() {
  Json one = typed("object", "Which fields one manager has set.");
  one["properties"] = {{"apiVersion", typed("string", "Version of the fields.")},
                       {"fieldsType", typed("string", "FieldsV1.")},
                       {"fieldsV1", typed("object", "The set of fields.")},
                       {"manager", typed("string", "Who has set them.")},
                       {"operation", typed("string", "Apply or Update.")},
                       {"subresource", typed("string", "By which subresource.")},
                       {"time", time("When.")}};
  Json list = typed("array", "Which manager has set which fields, for server-side apply.");
  list["items"] = one;
  return list;
}

/// "networking.k8s.io" -> "io.k8s.networking".
std::string reversed(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const std::size_t dot = name.rfind('.');
    if (!out.empty()) out += '.';
    out += dot == std::string_view::npos ? name : name.substr(dot + 1);
    name = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
  }
  return out;
}

bool is_true(const Json& schema, const char* key) {
  const auto found = schema.find(key);
  return found != schema.end() && found->is_boolean() && found->get<bool>();
}

/// What OpenAPI 2.0 knows of JSON Schema; rules that it does not know are left out, and with them what they soften.
void reduce(Json& schema) {
  if (!schema.is_object()) return;
  const bool open = is_true(schema, "x-kubernetes-preserve-unknown-fields");
  const bool either = is_true(schema, "x-kubernetes-int-or-string");
  const bool nullable = is_true(schema, "nullable");
  for (const char* key : {"oneOf", "anyOf", "allOf", "not", "nullable", "x-kubernetes-validations", "example"}) {
    schema.erase(key);
  }
  if (open || either || nullable) {
    for (const char* key : {"type", "items", "properties", "additionalProperties", "required", "format"})
      schema.erase(key);
    return;
  }
  if (const auto properties = schema.find("properties"); properties != schema.end() && properties->is_object()) {
    for (Json& property : *properties) reduce(property);
  }
  if (const auto items = schema.find("items"); items != schema.end()) reduce(*items);
  const auto additional = schema.find("additionalProperties");
  if (additional == schema.end()) return;
  if (additional->is_boolean()) {
    schema.erase(additional);
  } else {
    reduce(*additional);
  }
}

}  // namespace

std::string definition_name(const ResourceType& type) {
  if (type.custom) return reversed(type.group) + "." + type.version + "." + type.kind;
  const std::string group = type.group.empty() ? "core" : type.group.substr(0, type.group.find('.'));
  return "io.k8s.api." + group + "." + type.version + "." + type.kind;
}

Json kind_of(const ResourceType& type) {
  return {{"group", type.group}, {"version", type.version}, {"kind", type.kind}};
}

Json object_meta(OpenApi) {
  Json finalizers = typed("array", "Who has something to do before the object goes; it stays until the list is empty.");
  finalizers["items"] = {{"type", "string"}};
  finalizers["x-kubernetes-list-type"] = "set";
  finalizers["x-kubernetes-patch-strategy"] = "merge";
  Json meta = typed("object", "What every object has beside its content.");
  meta["properties"] = {
      {"annotations", map_of_strings("Notes of programs and people, by name. Nothing is selected by them.")},
      {"creationTimestamp", time("When the object was made. Set by the API.")},
      {"deletionGracePeriodSeconds", number("How long the object may take to go. Set by the API.")},
      {"deletionTimestamp", time("When it was asked that the object go. Set by the API.")},
      {"finalizers", finalizers},
      {"generateName", typed("string", "What a name begins with that the API makes, when `name` is not given.")},
      {"generation", number("Grows with each change of what is wanted. Set by the API.")},
      {"labels", map_of_strings("Names and values by which objects are selected.")},
      {"managedFields", managed_fields()},
      {"name", typed("string", "The object's name, one of its kind in a namespace. It cannot be changed.")},
      {"namespace", typed("string", "The namespace that the object is in. It cannot be changed.")},
      {"ownerReferences", owner_references()},
      {"resourceVersion",
       typed("string", "Changes with each change of the object; an update that names an older one is refused.")},
      {"selfLink", typed("string", "Not used any more.")},
      {"uid", typed("string", "Tells the object from all others that ever were. Set by the API.")}};
  return meta;
}

Json definition_of(const ResourceType& type, OpenApi version) {
  const bool written = type.schema != nullptr && type.schema->is_object();
  Json schema = written ? *type.schema : objects::built_in_open_api(type.group, type.kind);
  if (version == OpenApi::kV2) reduce(schema);
  // An object of which nothing is known stays so: naming some fields would forbid the others.
  if (schema.contains("properties")) {
    Json& properties = schema["properties"];
    properties["apiVersion"] = typed("string", "Group and version of the object's kind.");
    properties["kind"] = typed("string", "The object's kind.");
    const std::string at = version == OpenApi::kV2 ? "#/definitions/" : "#/components/schemas/";
    const Json reference = {{"$ref", at + std::string(kObjectMetaName)}};
    if (version == OpenApi::kV2) {
      properties["metadata"] = reference;
    } else {
      properties["metadata"] = {{"allOf", {reference}},
                                {"default", Json::object()},
                                {"description", "What every object has beside its content."}};
    }
  }
  schema["x-kubernetes-group-version-kind"] = Json::array({kind_of(type)});
  return schema;
}

}  // namespace edge::resource_api::http
