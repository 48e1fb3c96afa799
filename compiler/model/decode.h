// Documents -> ResourceSet. Validates every field against its schema, then decodes it.
#pragma once

#include <string_view>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/model/resource_set.h"
#include "compiler/yaml/document.h"

namespace edge::compiler::model {

/// Documents of this kind and the product's group may be among the configuration without being part of it: they test it
/// (route_test/). Decoding skips them.
inline constexpr std::string_view kRouteTestKind = "RouteTest";

/// Adds the resources of one document (one, or the items of a List). A resource with an invalid field is reported and
/// excluded: an error never widens a route. The exception is a policy whose target is readable: it is kept without
/// settings, so that what it protects is denied instead of served. Foreign kinds are skipped.
void decode(const yaml::Document& document, ResourceSet& resources, Diagnostics& diagnostics);

/// Adds the resources of every text.
ResourceSet decode_all(const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace edge::compiler::model
