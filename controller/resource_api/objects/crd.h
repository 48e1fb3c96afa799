// CustomResourceDefinitions (apiextensions.k8s.io/v1) as objects: defaults, and the rules that one must keep.
#pragma once

#include <string_view>

#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/table.h"

namespace edge::resource_api::objects {

/// spec.names.singular and listKind, spec.conversion, as an API server fills them in.
void apply_crd_defaults(Json& crd);

/// Faults of a CRD, its schemas and columns included; `old`: before an update, nullptr when created. conversion must be
/// None. metadata is checked by metadata.h.
void validate_crd(const Json& crd, const Json* old, Causes& causes);

/// The compiled schema of one version, nullptr when there is none of this name. Precondition: validate_crd finds no
/// fault.
SchemaPtr crd_schema(const Json& crd, std::string_view version);
/// Its printer columns behind Name; Age when it has none.
Columns crd_columns(const Json& crd, std::string_view version);

}  // namespace edge::resource_api::objects
