// The schemas of all kinds as OpenAPI: version 3 by group and version, version 2 in one document, as JSON and as
// protobuf. Used by kubectl to explain, validate and merge. Pure functions of the registry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "controller/resource_api/registry.h"

namespace edge::resource_api::http {

using Json = nlohmann::json;

/// Returns `/openapi/v3`: the URLs of the documents, each with its hash.
Json openapi_v3_index(const Registry& registry);
/// nullopt: no such group and version.
std::optional<Json> openapi_v3(const Registry& registry, std::string_view group, std::string_view version);

Json openapi_v2(const Registry& registry);
/// The same document as gnostic's message openapi.v2.Document.
std::string openapi_v2_protobuf(const Json& document);

}  // namespace edge::resource_api::http
