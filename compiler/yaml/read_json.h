// Reads documents in JSON, such as objects of an API, in a fifth of the time of the YAML parser.
#pragma once

#include <cstddef>
#include <optional>

#include "base/source.h"
#include "compiler/yaml/document.h"
#include "compiler/yaml/read.h"
#include "compiler/yaml/split.h"

namespace edge::compiler::yaml {

/// Returns the same document as the YAML reader for `piece`, if that is one valid JSON object. nullopt: it is not, has
/// a duplicate key, is deeper than `limits.depth` or has more than `most_nodes` values: the YAML reader then reports
/// the error, if any.
std::optional<Document> read_json(const SourceMap& sources, std::uint32_t source, Piece piece, const ReadLimits& limits,
                                  std::size_t most_nodes);

}  // namespace edge::compiler::yaml
