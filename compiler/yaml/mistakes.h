// Finds the cause of a syntax error. A parser stops at the first invalid token, often lines after the mistake; this
// searches the text again, line by line, for common typing errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/yaml/flow_mistakes.h"
#include "compiler/yaml/split.h"

namespace edge::compiler::yaml {

/// Returns the first mistake in an unreadable document, no later than the line of `fault`, where the parser stopped.
/// nullopt when it is not a known one. Linear in the text; allocates by its depth.
std::optional<Diagnostic> find_mistake(std::string_view text, std::uint32_t source, Piece piece, std::uint32_t fault,
                                       Citing citing);

/// Returns a readable message for the parser's error; the parser's own where it is unknown.
std::string_view syntax_words(std::string_view parser_words);

}  // namespace edge::compiler::yaml
