// The schemas of built-in kinds: fields, list merging, columns. For kinds that the embedded API only stores (pods,
// deployments, ...) the parts that clients patch are described, and all other fields are preserved.
#pragma once

#include <string_view>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/table.h"

namespace edge::resource_api::objects {

/// Returns the schema of a built-in kind (`""`, `Service`); schemaless() for an unknown one.
const Schema& built_in_schema(std::string_view group, std::string_view kind);

/// Returns it as an OpenAPI v3 schema, with x-kubernetes-* extensions, for discovery. An object without properties for
/// an unknown kind.
Json built_in_open_api(std::string_view group, std::string_view kind);

/// Returns the columns of a built-in kind for `kubectl get`; Name and Age for an unknown one.
const Columns& built_in_columns(std::string_view group, std::string_view kind);

/// Fills in the defaults of built-in kinds that clients rely on (a Service's type and sessionAffinity, a Secret's type,
/// protocol of ports, ...).
void apply_built_in_defaults(std::string_view group, std::string_view kind, Json& object);

/// Validates a built-in object beyond its schema: ports of a Service, keys of a ConfigMap, immutable fields (type of a
/// Secret, an immutable ConfigMap). `old`: the object before, nullptr when created.
void validate_built_in(std::string_view group, std::string_view kind, const Json& object, const Json* old,
                       Causes& causes);

}  // namespace edge::resource_api::objects
