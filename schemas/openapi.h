// A table as JSON: as the structural OpenAPI v3 schema that a cluster takes, and as the JSON Schema that editors take.
#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "schemas/schema.h"

namespace edge::schemas {

enum class Dialect : std::uint8_t {
  /// apiextensions.k8s.io/v1: unknown fields are pruned, defaults filled in.
  kCluster,
  /// JSON Schema draft 7: unknown fields are faults, as they are for the compiler.
  kEditor,
};

/// The fields of `object`; `status` takes the place of the field of that name where it is given.
nlohmann::ordered_json object_schema(const Object& object, Dialect dialect, const Object* status = nullptr);
nlohmann::ordered_json field_schema(const Field& field, Dialect dialect);

/// A value as the tables write it: `5s`, `10`, `false`, `[gzip, br]`.
nlohmann::ordered_json default_value(const Field& field);

}  // namespace edge::schemas
