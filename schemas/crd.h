// CustomResourceDefinitions (apiextensions.k8s.io/v1), made from the tables.
#pragma once

#include <string>

#include "schemas/schema.h"

namespace edge::schemas {

/// Returns the manifest of one own kind, in YAML. Precondition: kind.manifest != nullptr.
std::string crd_manifest(const Kind& kind);

/// The same in JSON.
std::string crd_json(const Kind& kind);

/// Returns those of all own kinds, by name, as one stream of documents.
std::string crd_manifests();

}  // namespace edge::schemas
