// CustomResourceDefinitions (apiextensions.k8s.io/v1), made from the tables.
#pragma once

#include <string>
#include <string_view>

#include "schemas/schema.h"

namespace edge::schemas {

/// Annotation of a definition: the version of this project that it is of.
inline constexpr std::string_view kDefinitionVersion = EDGE_API_GROUP "/version";

/// Returns the manifest of one own kind, in YAML. Precondition: kind.manifest != nullptr.
std::string crd_manifest(const Kind& kind);

/// The same in JSON.
std::string crd_json(const Kind& kind);

/// Returns those of all own kinds, by name, as one stream of documents.
std::string crd_manifests();

}  // namespace edge::schemas
