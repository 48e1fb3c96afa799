// Converts a table to JSON: a structural OpenAPI v3 schema for clusters, and a JSON Schema for editors.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "schemas/schema.h"

namespace edge::schemas {

enum class Dialect : std::uint8_t {
  /// apiextensions.k8s.io/v1: unknown fields are pruned, defaults filled in.
  kCluster,
  /// JSON Schema draft 7: unknown fields are errors, as in the compiler.
  kEditor,
};

/// Returns the schema of `object`; `status` replaces the field of that name, if given.
nlohmann::ordered_json object_schema(const Object& object, Dialect dialect, const Object* status = nullptr);
nlohmann::ordered_json field_schema(const Field& field, Dialect dialect);

/// Parses a value as written in the tables: `5s`, `10`, `false`, `[gzip, br]`.
nlohmann::ordered_json default_value(const Field& field);

}  // namespace edge::schemas
