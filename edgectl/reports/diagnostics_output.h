// Diagnostics in the forms of `edgectl validate -o`.
#pragma once

#include <cstddef>
#include <string>

#include "base/diagnostics.h"
#include "base/source.h"

namespace edge::edgectl {

/// `1 error`, `3 errors`.
std::string counted(std::size_t count, const std::string& noun);

/// Per file a line valid or invalid followed by what was found in it, then the summary. Of the first `files` texts:
/// others stand beside them and are nobody's files.
std::string diagnostics_text(const Diagnostics& diagnostics, const SourceMap& sources, std::uint32_t files,
                             Colour colour);
/// The errors alone, one after the other: for commands whose subject is another.
std::string errors_text(const Diagnostics& diagnostics, const SourceMap& sources, Colour colour);
/// A list of objects: code, severity, message, resource, file, line, column, field, notes, fix.
std::string diagnostics_json(const Diagnostics& diagnostics, const SourceMap& sources);
/// SARIF 2.1.0, as code-scanning services read it.
std::string diagnostics_sarif(const Diagnostics& diagnostics, const SourceMap& sources);

}  // namespace edge::edgectl
