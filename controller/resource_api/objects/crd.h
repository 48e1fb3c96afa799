// CustomResourceDefinitions (apiextensions.k8s.io/v1) as objects: defaults and validation.
#pragma once

#include <string_view>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/table.h"

namespace edge::resource_api::objects {

/// Sets spec.names.singular and listKind, spec.conversion, as an API server does.
void apply_crd_defaults(Json& crd);

/// Validates a CRD, including its schemas and columns; `old`: before an update, nullptr when created. conversion must
/// be None. metadata is validated by metadata.h.
void validate_crd(const Json& crd, const Json* old, Causes& causes);

/// Returns the compiled schema of one version, nullptr when there is no such version. Precondition: the CRD is valid.
SchemaPtr crd_schema(const Json& crd, std::string_view version);
/// Returns its printer columns after Name; Age when it has none.
Columns crd_columns(const Json& crd, std::string_view version);

}  // namespace edge::resource_api::objects
