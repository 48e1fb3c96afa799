// Documents in JSON, as every object of an API is: read in a fifth of the time that the parser of YAML takes.
#pragma once

#include <cstddef>
#include <optional>

#include "base/source.h"
#include "compiler/yaml/document.h"
#include "compiler/yaml/read.h"
#include "compiler/yaml/split.h"

namespace edge::compiler::yaml {

/// The document that the reader of YAML makes of `piece`, where that is one JSON object without a fault. nullopt: it is
/// none, has a key twice, goes deeper than `limits.depth` or has more than `most_nodes` values: the reader of YAML says
/// what is wrong, if anything is.
std::optional<Document> read_json(const SourceMap& sources, std::uint32_t source, Piece piece, const ReadLimits& limits,
                                  std::size_t most_nodes);

}  // namespace edge::compiler::yaml
