#include "schemas/json_schema.h"

#include <nlohmann/json.hpp>

#include "schemas/openapi.h"

namespace edge::schemas {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDraft = "http://json-schema.org/draft-07/schema#";

/// Of one kind, without the head that names the draft.
Json resource_schema(const Kind& kind) {
  Json body = object_schema(*kind.body, Dialect::kEditor, kind.manifest->status);
  Json schema;
  schema["title"] = std::string(kind.kind);
  schema["description"] = std::string(kind.manifest->text);
  schema["type"] = "object";
  schema["required"] = Json::array({"apiVersion", "kind", "metadata"});
  for (Json& name : body["required"]) schema["required"].push_back(name);
  schema["properties"]["apiVersion"]["const"] = std::string(kind.api_version);
  schema["properties"]["kind"]["const"] = std::string(kind.kind);
  schema["properties"]["metadata"] = object_schema(metadata(), Dialect::kEditor);
  schema["properties"].update(body["properties"]);
  schema["additionalProperties"] = false;
  return schema;
}

}  // namespace

std::string json_schema(const Kind& kind) {
  Json schema;
  schema["$schema"] = std::string(kDraft);
  schema.update(resource_schema(kind));
  return schema.dump(2) + "\n";
}

std::string json_schema() {
  Json schema;
  schema["$schema"] = std::string(kDraft);
  schema["title"] = "Resources of " + std::string(kApiGroup);
  schema["type"] = "object";
  schema["required"] = Json::array({"apiVersion", "kind"});
  Json& rules = schema["allOf"] = Json::array();
  for (const Kind& kind : kinds()) {
    if (kind.manifest == nullptr) continue;
    const std::string name(kind.kind);
    schema["properties"]["kind"]["enum"].push_back(name);
    schema["definitions"][name] = resource_schema(kind);
    // Told apart by kind, so that a fault is one of this kind and not one of all.
    Json rule;
    rule["if"]["properties"]["kind"]["const"] = name;
    rule["then"]["$ref"] = "#/definitions/" + name;
    rules.push_back(std::move(rule));
  }
  return schema.dump(2) + "\n";
}

}  // namespace edge::schemas
