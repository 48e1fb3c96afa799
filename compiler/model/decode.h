// Documents -> ResourceSet. Checks every field against its schema, then reads it into its type.
#pragma once

#include <string_view>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/model/resource_set.h"
#include "compiler/yaml/document.h"

namespace edge::compiler::model {

/// Documents of this kind and of our group stand among the configuration without being part of it: they test it
/// (route_test/). Decoding passes over them.
inline constexpr std::string_view kRouteTestKind = "RouteTest";

/// Adds the resources of one document (one, or the items of a List). A resource with a fault in a field is reported and
/// left out whole: a route is never widened by a fault in it. The exception is a policy whose target can be told: it
/// stays, without settings, so that what it protects is refused rather than served. Foreign kinds are passed over.
void decode(const yaml::Document& document, ResourceSet& resources, Diagnostics& diagnostics);

/// Adds the resources of every text.
ResourceSet decode_all(const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace edge::compiler::model
