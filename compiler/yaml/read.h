// SourceText -> documents. YAML 1.2 and JSON (which is YAML) through one reader.
//
// Not supported, each with a diagnostic: merge keys (`<<`), tags other than !!str and similar, keys that are not
// scalars, aliases of a node inside itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "base/source.h"
#include "compiler/yaml/document.h"

namespace edge::compiler::yaml {

/// Limits for untrusted text.
struct ReadLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 64;
  /// Per text, including copies by aliases.
  std::size_t nodes = 5'000'000;
  /// Nodes of one text that aliases may copy: nested aliases grow exponentially.
  std::size_t alias_nodes = 200'000;
  std::size_t documents = 1'000'000;
};

/// Adds the texts of each argument to `sources`: a file, a directory (every *.yaml, *.yml, *.json below it, sorted), or
/// `-` for standard input. A file reached by two arguments is read once. At most 256 MiB in all. kNotFound and
/// kPermissionDenied name the path.
Status read_sources(const std::vector<std::string>& paths, SourceMap& sources);

/// Checks without reading: each of `paths` is a readable file, or a directory with one. The Error names the first that
/// is not.
Status find_sources(const std::vector<std::string>& paths);

/// A file or directory that exists, or was named, and cannot be read.
struct UnreadableSource {
  std::string path;
  Error why;  ///< names the path
};
/// The same, but what cannot be read is added to `unreadable`, and everything else is read. The Error: too many files.
Status read_sources(const std::vector<std::string>& paths, SourceMap& sources,
                    std::vector<UnreadableSource>& unreadable);

/// Reads the documents of one text, in order; empty ones are skipped. An invalid document is excluded, and the others
/// are read: every document ends at the next line that begins with `---` or `...`. `each` is called with one at a time,
/// so that a large text is never in memory as a whole tree.
void read_documents(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics, const ReadLimits& limits,
                    const std::function<void(Document)>& each);

/// The same, all at once.
std::vector<Document> read_documents(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics,
                                     const ReadLimits& limits = {});

}  // namespace edge::compiler::yaml
