#include "controller/resource_api/http/openapi.h"

#include <algorithm>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"
#include "controller/resource_api/http/openapi_shapes.h"

namespace edge::resource_api::http {
namespace {

/// An operation on a path. Clients look it up by its action, its kind and its query parameters.
struct Action {
  const char* method;
  const char* action;
  bool writes;
};
constexpr Action kOnCollection[] = {
    {"get", "list", false}, {"post", "post", true}, {"delete", "deletecollection", true}};
constexpr Action kOnObject[] = {
    {"get", "get", false}, {"put", "put", true}, {"patch", "patch", true}, {"delete", "delete", true}};
constexpr Action kOnStatus[] = {{"get", "get", false}, {"put", "put", true}, {"patch", "patch", true}};
constexpr Action kOnAll[] = {{"get", "list", false}};

Json parameter(OpenApi version, std::string_view name, std::string_view in, const char* type) {
  Json one = {{"name", name}, {"in", in}};
  if (in == "path") one["required"] = true;
  if (version == OpenApi::kV2) {
    one["type"] = type;
  } else {
    one["schema"] = {{"type", type}};
  }
  return one;
}

Json parameters_of(OpenApi version, const Action& action) {
  Json all = Json::array();
  if (action.writes) {
    for (const char* name : {"dryRun", "fieldManager", "fieldValidation"}) {
      all.push_back(parameter(version, name, "query", "string"));
    }
    if (std::string_view(action.method) == "patch") all.push_back(parameter(version, "force", "query", "boolean"));
  } else if (std::string_view(action.action) == "list") {
    for (const char* name : {"continue", "fieldSelector", "labelSelector", "resourceVersion", "resourceVersionMatch"}) {
      all.push_back(parameter(version, name, "query", "string"));
    }
    for (const char* name : {"limit", "timeoutSeconds"}) {
      all.push_back(parameter(version, name, "query", "integer"));
    }
    for (const char* name : {"allowWatchBookmarks", "sendInitialEvents", "watch"}) {
      all.push_back(parameter(version, name, "query", "boolean"));
    }
  }
  return all;
}

class Paths {
 public:
  Paths(OpenApi version, const ResourceType& type, Json& out)
      : version_(version), type_(type), kind_(kind_of(type)), out_(out) {}

  void add() {
    const std::string base = (type_.group.empty() ? "/api/" : "/apis/") + type_.api_version() + "/";
    const std::string collection = base + (type_.namespaced ? "namespaces/{namespace}/" : "") + type_.plural;
    path(collection, kOnCollection, type_.namespaced, false);
    path(collection + "/{name}", kOnObject, type_.namespaced, true);
    if (type_.status) path(collection + "/{name}/status", kOnStatus, type_.namespaced, true);
    if (type_.namespaced) path(base + type_.plural, kOnAll, false, false);
  }

 private:
  void path(const std::string& path, std::span<const Action> actions, bool namespaced, bool named) {
    Json item = Json::object();
    Json shared = Json::array();
    if (named) shared.push_back(parameter(version_, "name", "path", "string"));
    if (namespaced) shared.push_back(parameter(version_, "namespace", "path", "string"));
    if (!shared.empty()) item["parameters"] = shared;
    for (const Action& action : actions) item[action.method] = operation(path, action);
    out_[path] = std::move(item);
  }

  Json operation(const std::string& path, const Action& action) const {
    std::string id = std::string(action.action) + path;
    std::replace_if(id.begin(), id.end(), [](char c) { return c == '/' || c == '{' || c == '}' || c == '.'; }, '_');
    return {{"operationId", id},
            {"parameters", parameters_of(version_, action)},
            {"responses", {{"200", {{"description", "OK"}}}}},
            {"x-kubernetes-action", action.action},
            {"x-kubernetes-group-version-kind", kind_}};
  }

  OpenApi version_;
  const ResourceType& type_;
  Json kind_;
  Json& out_;
};

Json info() { return {{"title", "edge-proxy resource API"}, {"version", EDGE_VERSION}}; }

std::string path_of(const ResourceType& type) { return (type.group.empty() ? "api/" : "apis/") + type.api_version(); }

/// Of what a document is made from, without making it.
std::uint64_t hash_of(const Registry& registry, std::string_view path) {
  std::uint64_t hash = hash_bytes(0, EDGE_VERSION);
  for (const ResourceTypePtr& type : registry.types()) {
    if (path_of(*type) != path) continue;
    hash = hash_bytes(hash, type->kind);
    if (type->schema != nullptr) hash = hash_bytes(hash, json_line(*type->schema));
  }
  return hash;
}

}  // namespace

Json openapi_v3_index(const Registry& registry) {
  std::set<std::string> paths;
  for (const ResourceTypePtr& type : registry.types()) paths.insert(path_of(*type));
  Json index = Json::object();
  for (const std::string& path : paths) {
    const std::string hash = std::to_string(hash_of(registry, path));
    index[path] = {{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + hash}};
  }
  return {{"paths", index}};
}

std::optional<Json> openapi_v3(const Registry& registry, std::string_view group, std::string_view version) {
  Json paths = Json::object();
  Json schemas = Json::object();
  for (const ResourceTypePtr& type : registry.types()) {
    if (type->group != group || type->version != version) continue;
    Paths(OpenApi::kV3, *type, paths).add();
    schemas[definition_name(*type)] = definition_of(*type, OpenApi::kV3);
  }
  if (schemas.empty()) return std::nullopt;
  schemas[std::string(kObjectMetaName)] = object_meta(OpenApi::kV3);
  return Json{{"openapi", "3.0.0"}, {"info", info()}, {"paths", paths}, {"components", {{"schemas", schemas}}}};
}

Json openapi_v2(const Registry& registry) {
  Json paths = Json::object();
  Json definitions = Json::object();
  for (const ResourceTypePtr& type : registry.types()) {
    Paths(OpenApi::kV2, *type, paths).add();
    definitions[definition_name(*type)] = definition_of(*type, OpenApi::kV2);
  }
  definitions[std::string(kObjectMetaName)] = object_meta(OpenApi::kV2);
  return {{"swagger", "2.0"}, {"info", info()}, {"paths", paths}, {"definitions", definitions}};
}

}  // namespace edge::resource_api::http
