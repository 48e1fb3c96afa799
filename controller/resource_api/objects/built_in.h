// The shapes of the kinds that are built in: fields, how lists merge, columns. Of kinds that the embedded API only
// stores (pods, deployments, ...) the parts that clients patch are told and the rest is kept as it is.
#pragma once

#include <string_view>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/table.h"

namespace edge::resource_api::objects {

/// The shape of a built-in kind (`""`, `Service`); schemaless() for one that is not known here.
const Schema& built_in_schema(std::string_view group, std::string_view kind);

/// The same as an OpenAPI v3 schema, with x-kubernetes-* extensions, for discovery. An object without properties when
/// the kind is not known here.
Json built_in_open_api(std::string_view group, std::string_view kind);

/// What `kubectl get` shows of a built-in kind; Name and Age for one that is not known here.
const Columns& built_in_columns(std::string_view group, std::string_view kind);

/// Fills in the defaults of built-in kinds that clients rely on (a Service's type and sessionAffinity, a Secret's type,
/// protocol of ports, ...).
void apply_built_in_defaults(std::string_view group, std::string_view kind, Json& object);

/// Faults of a built-in object beside its shape: ports of a Service, keys of a ConfigMap, what may not change (type of
/// a Secret, an immutable ConfigMap). `old`: the object before, nullptr when created.
void validate_built_in(std::string_view group, std::string_view kind, const Json& object, const Json* old,
                       Causes& causes);

}  // namespace edge::resource_api::objects
