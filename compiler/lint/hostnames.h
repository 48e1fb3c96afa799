// Names of one list of `hostnames` that say nothing new.
#pragma once

#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/hostname.h"
#include "base/source.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::lint {

/// Warns of each name that stands twice in the list, in whatever case.
/// `field` is the list's path in `resource`.
void lint_hostnames(const model::Metadata& resource, const std::vector<Located<HostPattern>>& names,
                    std::string_view field, Diagnostics& diagnostics);

}  // namespace edge::compiler::lint
