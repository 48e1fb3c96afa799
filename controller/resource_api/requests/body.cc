#include "controller/resource_api/requests/body.h"

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/text/json.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"
#include "controller/resource_api/objects/read.h"

namespace edge::resource_api {
namespace {

using objects::Answer;
using objects::Json;
using objects::StatusError;

constexpr std::size_t kMaxYamlBytes = std::size_t{6} << 20;

/// An alias costs four bytes and stands for as much as it likes: texts are counted before they are copied.
std::size_t bytes_of(const compiler::yaml::Document& document) {
  std::size_t bytes = 0;
  for (const compiler::yaml::NodeData& node : document.nodes) bytes += node.text.size() + node.key.size();
  return bytes;
}

Answer<Json> read_yaml(const std::string& text) {
  SourceMap sources;
  Diagnostics faults;
  compiler::yaml::ReadLimits limits;
  limits.bytes = text.size() + 1;
  limits.nodes = 500'000;
  limits.documents = 2;
  const std::uint32_t source = sources.add("body", text);
  const auto documents = compiler::yaml::read_documents(sources, source, faults, limits);
  if (documents.size() != 1) return objects::bad_request("error decoding YAML: the body must be one document");
  if (bytes_of(documents.front()) > kMaxYamlBytes) {
    return objects::too_large("Request entity too large: its aliases stand for too much");
  }
  // Through the reader of JSON: one bound on depth, one way in which numbers are held.
  return objects::read_json(json_line(compiler::model::json_of(documents.front().root())));
}

}  // namespace

std::string metadata_text(const Json& object, const char* field) {
  return text_in(member_in(object, "metadata"), field);
}

Answer<Json> read_body(std::string_view content_type, const std::string& text, std::vector<std::string>& duplicates) {
  const std::string type = media_type(content_type);
  if (type.empty() || type == "application/json" || type.ends_with("+json")) {
    return objects::read_json(text, &duplicates);
  }
  if (type != "application/yaml" && !type.ends_with("+yaml")) {
    return objects::unsupported_media_type("application/json, application/yaml");
  }
  // Most clients send JSON under the name of YAML, which it is; and its reader tells keys written twice.
  auto json = objects::read_json(text, &duplicates);
  if (json) return json;
  duplicates.clear();
  return read_yaml(text);
}

Answer<Json> read_object_body(const Operation& op, const ApiRequest& request, std::vector<std::string>& duplicates) {
  auto body = read_body(request.content_type, request.body, duplicates);
  if (!body) return body;
  if (!body->is_object()) return objects::bad_request("the body of the request must be an object");
  if (auto fault = check_object(op, *body)) return *fault;
  return body;
}

std::optional<StatusError> check_object(const Operation& op, Json& object) {
  const std::string api_version = op.type->api_version();
  for (const auto& [field, expected] :
       {std::pair<const char*, const std::string&>("apiVersion", api_version), {"kind", op.type->kind}}) {
    Json& value = object[field];
    if (value.is_null() || value == "") value = expected;
    if (value == expected) continue;
    if (std::string_view(field) == "kind") {
      return objects::bad_request(value.dump() + " in version \"" + op.type->version + "\" cannot be handled as a " +
                                  op.type->kind);
    }
    return objects::bad_request("the API version in the data (" +
                                (value.is_string() ? value.get<std::string>() : value.dump()) +
                                ") does not match the expected API version (" + api_version + ")");
  }
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (!metadata.is_object()) return objects::bad_request("metadata must be an object");
  const std::string name = metadata_text(object, "name");
  if (!op.name.empty() && !name.empty() && name != op.name) {
    return objects::bad_request("the name of the object (" + name + ") does not match the name on the URL (" + op.name +
                                ")");
  }
  if (!op.name.empty() && !metadata.contains("name")) metadata["name"] = op.name;
  const std::string name_space = metadata_text(object, "namespace");
  if (!name_space.empty() && name_space != op.name_space) {
    return objects::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  }
  if (op.type->namespaced) metadata["namespace"] = op.name_space;
  if (!op.type->namespaced) metadata.erase("namespace");
  return std::nullopt;
}

}  // namespace edge::resource_api
