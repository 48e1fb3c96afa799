// The cause of a syntax error. A parser stops at the token that it cannot take, which is often lines behind the
// mistake; this looks at the text again as a person does, line by line, for what is commonly mistyped.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/yaml/flow_mistakes.h"
#include "compiler/yaml/split.h"

namespace edge::compiler::yaml {

/// The first mistake of a document that cannot be read, no later than the line of `fault`, where the parser stopped.
/// nullopt when it is none of the known ones. Linear in the text; allocates by its depth.
std::optional<Diagnostic> find_mistake(std::string_view text, std::uint32_t source, Piece piece, std::uint32_t fault,
                                       Citing citing);

/// What the parser complains of, in our words; the parser's own where they are not known.
std::string_view syntax_words(std::string_view parser_words);

}  // namespace edge::compiler::yaml
