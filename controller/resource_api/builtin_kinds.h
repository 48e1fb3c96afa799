// The resources that exist without a CustomResourceDefinition.
#pragma once

#include <string_view>
#include <vector>

#include "controller/resource_api/registry.h"

namespace edge::resource_api {

std::vector<ResourceTypePtr> builtin_types();

/// Collections that the API itself uses.
inline constexpr std::string_view kNamespaces = "/namespaces";
inline constexpr std::string_view kEvents = "/events";
inline constexpr std::string_view kSecrets = "/secrets";
inline constexpr std::string_view kConfigMaps = "/configmaps";
inline constexpr std::string_view kCustomResourceDefinitions = "apiextensions.k8s.io/customresourcedefinitions";

}  // namespace edge::resource_api
