#include "controller/federation/content.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::federation {
namespace {

/// What kubectl keeps for itself, of one cluster's object.
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

Error no_object() { return {ErrorCode::kInvalidArgument, "federation: a document that is no object"}; }

}  // namespace

Result<std::string> content_of(std::string_view object, WithStatus with_status) {
  return content_of_json(parse_json(object), with_status);
}

Result<std::string> content_of_json(nlohmann::json&& object, WithStatus with_status) {
  nlohmann::json value = std::move(object);
  if (!value.is_object() || !member_in(value, "metadata").is_object()) return no_object();
  nlohmann::json metadata = nlohmann::json::object();
  for (const char* name : {"name", "namespace", "labels", "annotations"}) {
    const auto member = value["metadata"].find(name);
    if (member != value["metadata"].end() && !member->is_null()) metadata[name] = std::move(*member);
  }
  if (metadata.contains("labels") && metadata["labels"].is_object()) {
    metadata["labels"].erase(std::string(kOriginLabel));
    if (metadata["labels"].empty()) metadata.erase("labels");
  }
  if (metadata.contains("annotations") && metadata["annotations"].is_object()) {
    metadata["annotations"].erase(std::string(kLastApplied));
    if (metadata["annotations"].empty()) metadata.erase("annotations");
  }
  value["metadata"] = std::move(metadata);
  if (with_status == WithStatus::kNo) value.erase("status");
  return json_line(value);
}

Result<std::string> object_of(std::string_view content, std::string_view origin) {
  nlohmann::json value = parse_json(content);
  if (!value.is_object() || !member_in(value, "metadata").is_object()) return no_object();
  if (!origin.empty()) {
    nlohmann::json& labels = value["metadata"]["labels"];
    if (!labels.is_object()) labels = nlohmann::json::object();
    labels[std::string(kOriginLabel)] = origin;
  }
  return json_line(value);
}

}  // namespace edge::federation
