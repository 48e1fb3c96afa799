// Formats diagnostics for `edgectl validate -o`.
#pragma once

#include <cstddef>
#include <string>

#include "base/diagnostics.h"
#include "base/source.h"

namespace edge::edgectl {

/// `1 error`, `3 errors`.
std::string counted(std::size_t count, const std::string& noun);

/// Returns per file a line valid or invalid followed by its diagnostics, then the summary. For the first `files` texts:
/// others are not from the user's files.
std::string diagnostics_text(const Diagnostics& diagnostics, const SourceMap& sources, std::uint32_t files,
                             Colour colour);
/// Returns the errors only, one after the other: for commands with another purpose.
std::string errors_text(const Diagnostics& diagnostics, const SourceMap& sources, Colour colour);
/// Returns a list of objects: code, severity, message, resource, file, line, column, field, notes, fix.
std::string diagnostics_json(const Diagnostics& diagnostics, const SourceMap& sources);
/// Returns SARIF 2.1.0, for code-scanning services.
std::string diagnostics_sarif(const Diagnostics& diagnostics, const SourceMap& sources);

}  // namespace edge::edgectl
