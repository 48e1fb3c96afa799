#include "schemas/crd.h"

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json.h"
#include "schemas/openapi.h"
#include "schemas/yaml_text.h"

namespace edge::schemas {
namespace {

using Json = nlohmann::ordered_json;

std::string_view version_of(const Kind& kind) { return kind.api_version.substr(kind.api_version.find('/') + 1); }

Json columns_of(const Manifest& manifest) {
  Json columns = Json::array();
  for (const Column& column : manifest.columns) {
    Json row;
    row["name"] = std::string(column.name);
    row["type"] = column.type == ColumnType::kDate      ? "date"
                  : column.type == ColumnType::kInteger ? "integer"
                                                        : "string";
    row["jsonPath"] = std::string(column.json_path);
    if (column.wide) row["priority"] = 1;
    columns.push_back(std::move(row));
  }
  return columns;
}

/// The whole resource: what every one has, and the kind's own fields.
Json resource_schema(const Kind& kind) {
  Json schema;
  schema["description"] = std::string(kind.manifest->text);
  Json body = object_schema(*kind.body, Dialect::kCluster, kind.manifest->status);
  schema["type"] = "object";
  schema["properties"]["apiVersion"] = {{"type", "string"}};
  schema["properties"]["kind"] = {{"type", "string"}};
  schema["properties"]["metadata"] = {{"type", "object"}};
  schema["properties"].update(body["properties"]);
  if (body.contains("required")) schema["required"] = body["required"];
  return schema;
}

Json crd_of(const Kind& kind) {
  Json crd;
  crd["apiVersion"] = "apiextensions.k8s.io/v1";
  crd["kind"] = "CustomResourceDefinition";
  crd["metadata"]["name"] = std::string(kind.plural) + "." + std::string(kApiGroup);
  crd["metadata"]["annotations"][std::string(kDefinitionVersion)] = EDGE_VERSION;
  Json& spec = crd["spec"];
  spec["group"] = std::string(kApiGroup);
  spec["names"] = {{"kind", std::string(kind.kind)},
                   {"listKind", std::string(kind.kind) + "List"},
                   {"plural", std::string(kind.plural)},
                   {"singular", ascii_lower(kind.kind)},
                   {"shortNames", Json::array({std::string(kind.manifest->short_name())})},
                   {"categories", Json::array({"edge"})}};
  spec["scope"] = "Namespaced";
  Json version;
  version["name"] = std::string(version_of(kind));
  version["served"] = true;
  version["storage"] = true;
  version["subresources"]["status"] = Json::object();
  version["additionalPrinterColumns"] = columns_of(*kind.manifest);
  version["schema"]["openAPIV3Schema"] = resource_schema(kind);
  spec["versions"] = Json::array({std::move(version)});
  return crd;
}

}  // namespace

std::string crd_manifest(const Kind& kind) { return yaml_text(crd_of(kind)); }

std::string crd_json(const Kind& kind) { return indented_json(crd_of(kind)); }

std::string crd_manifests() {
  std::string all;
  for (const Kind& kind : kinds()) {
    if (kind.manifest == nullptr) continue;
    if (!all.empty()) all += "---\n";
    all += crd_manifest(kind);
  }
  return all;
}

}  // namespace edge::schemas
