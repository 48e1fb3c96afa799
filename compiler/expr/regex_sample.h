// Generates strings that a pattern matches, for the proof.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::expr {

/// Returns up to `count` different strings; the first is among the shortest. Bytes that are unescaped in paths come
/// first. Assertions are assumed to hold, so that the caller must check each string with a matcher. Deterministic.
std::vector<std::string> sample_matches(const RegexNode& node, std::size_t count);

}  // namespace edge::compiler::expr
