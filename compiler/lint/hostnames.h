// Lints duplicate names in a list of `hostnames`.
#pragma once

#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/hostname.h"
#include "base/source.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::lint {

/// Warns of each name that occurs twice in the list, ignoring case.
/// `field` is the list's path in `resource`.
void lint_hostnames(const model::Metadata& resource, const std::vector<Located<HostPattern>>& names,
                    std::string_view field, Diagnostics& diagnostics);

}  // namespace edge::compiler::lint
