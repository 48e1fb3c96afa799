// The OpenAPI schema of one kind, with the common fields: apiVersion, kind and metadata.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "controller/resource_api/registry.h"

namespace edge::resource_api::http {

using Json = nlohmann::json;

enum class OpenApi { kV2, kV3 };

/// `io.k8s.api.apps.v1.Deployment`, `io.edgeproxy.v1alpha1.ProxyRoute`.
std::string definition_name(const ResourceType& type);
/// The definition of metadata, which definition_of refers to.
inline constexpr std::string_view kObjectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
Json object_meta(OpenApi version);
/// Returns the definition with x-kubernetes-group-version-kind. What version 2 cannot express is omitted, so that
/// clients do not reject what the API accepts.
Json definition_of(const ResourceType& type, OpenApi version);
/// Returns {group, version, kind}.
Json kind_of(const ResourceType& type);

}  // namespace edge::resource_api::http
