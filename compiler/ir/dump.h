// Formats a lowered host as text, for golden files and for debugging. Stable: contains no indices that an unrelated
// edit changes.
#pragma once

#include <string>

#include "compiler/ir/match_ir.h"

namespace edge::compiler::ir {

/// Lists every candidate, in rule order, with its conditions; then shadowed and contradictory ones.
std::string dump(const LinkedConfig& config, const Host& host);

/// Returns one predicate in the syntax of rule D5, with `matches` for patterns and `present` for presence.
std::string predicate_text(const Host& host, std::uint32_t predicate);

/// `namespace/name rules[0].matches[1]`.
std::string candidate_text(const LinkedConfig& config, const Candidate& candidate);

}  // namespace edge::compiler::ir
