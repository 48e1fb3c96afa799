// Properties of a pattern derived from its tree: its size, where matches begin, whether it matches everything.
#pragma once

#include <cstdint>

#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::expr {

/// Returns the positions of a match with every counted repeat expanded. Capped at kMaxRegexPositions + 1.
std::uint64_t positions(const RegexNode& node);
/// Returns the product of nested counted repeats, of which RE2 rejects more than 1,000. Capped likewise.
std::uint64_t repeat_product(const RegexNode& node);
/// Returns whether every match starts at the subject's first byte.
bool begins_at_begin(const RegexNode& node);
/// Returns whether it is found in every subject: matches the empty string, possibly after `^`, which holds at the first
/// byte.
bool always_found(const RegexNode& node);

}  // namespace edge::compiler::expr
