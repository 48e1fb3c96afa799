// The annotation `edgeproxy.io/allow`: warnings that the author of a resource means so.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/yaml/document.h"

namespace edge::compiler::model {

inline constexpr std::string_view kAllowAnnotation = EDGE_API_GROUP "/allow";

/// Reads `edgeproxy.io/allow: EDGE1004, EDGE0404` of a resource's metadata: those codes, as warnings or notes about
/// `resource`, are dropped. A text that names no code is warned of. On `own` kinds so is every other annotation of the
/// group, as nothing reads it.
void read_allowances(yaml::Node metadata, bool own, const std::string& resource, Diagnostics& diagnostics);

}  // namespace edge::compiler::model
