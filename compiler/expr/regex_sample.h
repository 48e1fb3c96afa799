// Strings that a pattern matches, for the proof: subjects that must reach a rule.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/expr/regex_syntax.h"

namespace edge::compiler::expr {

/// Up to `count` different strings; the first is among the shortest. Bytes that may stand in a path as they are come
/// first. Assertions are taken for granted, so the caller checks each string with a matcher. The same tree gives the
/// same strings.
std::vector<std::string> sample_matches(const RegexNode& node, std::size_t count);

}  // namespace edge::compiler::expr
