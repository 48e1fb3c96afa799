// What is true of a pattern by its tree alone: how large it is, where it begins, whether it is found everywhere.
#pragma once

#include <cstdint>

#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::expr {

/// Places of a match with every counted repeat written out. Capped at one past kMaxRegexPositions.
std::uint64_t positions(const RegexNode& node);
/// The product of counted repeats inside each other, of which RE2 refuses more than 1,000. Capped likewise.
std::uint64_t repeat_product(const RegexNode& node);
/// Every match starts at the subject's first byte.
bool begins_at_begin(const RegexNode& node);
/// Found in every subject: matches the empty string, if need be after `^`, which holds at the first byte.
bool always_found(const RegexNode& node);

}  // namespace edge::compiler::expr
