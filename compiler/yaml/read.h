// SourceText -> documents. YAML 1.2 and JSON (which is YAML) through one reader.
//
// Left out on purpose, each with a diagnostic: merge keys (`<<`), tags other than !!str and its like, keys that are no
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

/// What keeps a hostile text harmless.
struct ReadLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 64;
  /// Of one text, copies by aliases included.
  std::size_t nodes = 5'000'000;
  /// Nodes of one text that aliases may copy: an alias of an alias of an alias grows without end.
  std::size_t alias_nodes = 200'000;
  std::size_t documents = 1'000'000;
};

/// Adds the texts behind each argument to `sources`: a file, a directory (every *.yaml, *.yml, *.json below it,
/// sorted), or `-` for standard input. A file that two arguments lead to is read once. At most 256 MiB in all.
/// kNotFound and kPermissionDenied name the path.
Status read_sources(const std::vector<std::string>& paths, SourceMap& sources);

/// Without reading any: each of `paths` is a file that may be read, or a directory with one. The Error names the first
/// that is not.
Status find_sources(const std::vector<std::string>& paths);

/// A file or directory that is there, or was named, and cannot be read.
struct UnreadableSource {
  std::string path;
  Error why;  ///< names the path
};
/// The same, but what cannot be read is told in `unreadable` and keeps nothing else out. The Error: more files than are
/// read.
Status read_sources(const std::vector<std::string>& paths, SourceMap& sources,
                    std::vector<UnreadableSource>& unreadable);

/// The documents of one text, in its order; empty ones are skipped. A fault in one document leaves that one out, and
/// the others are read: every document ends at the next line that begins with `---` or `...`.
/// `each` is called with one at a time, so that a large text is never held as a whole tree.
void read_documents(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics, const ReadLimits& limits,
                    const std::function<void(Document)>& each);

/// The same, all at once.
std::vector<Document> read_documents(const SourceMap& sources, std::uint32_t source, Diagnostics& diagnostics,
                                     const ReadLimits& limits = {});

}  // namespace edge::compiler::yaml
