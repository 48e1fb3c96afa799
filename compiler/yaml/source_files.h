// Files and folders to SourceText.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"

namespace edge::compiler::yaml {

/// Adds the texts behind each argument to `sources`: a file, a directory (every *.yaml, *.yml, *.json below it,
/// sorted), or `-` for standard input. A file that two arguments lead to is read once. At most 256 MiB in all.
/// kNotFound and kPermissionDenied name the path.
Status read_sources(const std::vector<std::string>& paths, SourceMap& sources);

}  // namespace edge::compiler::yaml
