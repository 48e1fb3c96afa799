// Front half of the compiler in one call: files to LinkedConfig.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "base/source.h"
#include "compiler/link/linked_config.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler {

/// Adds the texts behind each argument to `sources`: a file, a directory (every *.yaml, *.yml, *.json below it,
/// sorted), or `-` for standard input. A file that two arguments lead to is read once. At most 256 MiB in all.
/// kNotFound and kPermissionDenied name the path.
Status read_sources(const std::vector<std::string>& paths, SourceMap& sources);

/// read, decode, link. Always gives a configuration: what was at fault is left out of it and reported.
LinkedConfig read_config(const SourceMap& sources, Diagnostics& diagnostics);

/// What lints have to say of resources that were not translated yet; they see what Gateway API and Ingress become, too.
void lint_resources(const model::ResourceSet& resources, Diagnostics& diagnostics);

/// The last part of it: translate, link.
LinkedConfig link_resources(model::ResourceSet resources, Diagnostics& diagnostics);

/// LinkedConfig::secrets, for a configuration of which parts were linked at different times.
program::SecretSet collect_secrets(const LinkedConfig& config, const model::ResourceSet& resources);

}  // namespace edge::compiler
