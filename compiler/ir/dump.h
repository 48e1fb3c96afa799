// A lowered host as text, for golden files and for people who debug the lowering. Stable: no numbers of vectors that an
// unrelated edit moves.
#pragma once

#include <string>

#include "compiler/ir/match_ir.h"

namespace edge::compiler::ir {

/// Every candidate, in the order of the rules, with its conditions; then what is shadowed and what contradicts itself.
std::string dump(const LinkedConfig& config, const Host& host);

/// One predicate in the syntax of rule D5, with `matches` for patterns and `present` for presence.
std::string predicate_text(const Host& host, std::uint32_t predicate);

/// `namespace/name rules[0].matches[1]`.
std::string candidate_text(const LinkedConfig& config, const Candidate& candidate);

}  // namespace edge::compiler::ir
