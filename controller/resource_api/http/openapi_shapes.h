// The shape of one kind as OpenAPI says it, with what every object has: apiVersion, kind and metadata.
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
/// Metadata, as definition_of refers to it.
inline constexpr std::string_view kObjectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
Json object_meta(OpenApi version);
/// With x-kubernetes-group-version-kind. Version 2 has no words for some of what a schema may say: where that is so it
/// says nothing, so that no client refuses what the API would take.
Json definition_of(const ResourceType& type, OpenApi version);
/// {group, version, kind}.
Json kind_of(const ResourceType& type);

}  // namespace edge::resource_api::http
