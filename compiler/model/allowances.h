// The annotation `edgeproxy.io/allow`: intended warnings of a resource.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/yaml/document.h"

namespace edge::compiler::model {

inline constexpr std::string_view kAllowAnnotation = EDGE_API_GROUP "/allow";

/// Reads `edgeproxy.io/allow: EDGE1004, EDGE0404` in a resource's metadata: warnings and notes about `resource` with
/// these codes are dropped. Warns of a value without codes, and on `own` kinds of every other annotation of the group,
/// because it has no effect.
void read_allowances(yaml::Node metadata, bool own, const std::string& resource, Diagnostics& diagnostics);

}  // namespace edge::compiler::model
