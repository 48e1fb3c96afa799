// Rules that other hosts hide: matching falls through to a less specific host alone when no rule of the more specific
// ones takes a request (decisions, "fall-through"). Where these take all that the listener serves, nothing is left.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "program/read.h"

namespace edge::compiler::analyze {

/// A warning (kUnreachableRule) for each rule that no request reaches because every name of its host that the listener
/// serves belongs to a more specific host first, whose rules take all that this one would. What the proof of one host
/// found already is not told again. `program` was compiled from `config`. Hosts that have names of their own, which is
/// nearly all, cost a look at the patterns.
void report_hidden_by_hosts(const LinkedConfig& config, const program::ProgramView& program, Diagnostics& diagnostics);

}  // namespace edge::compiler::analyze
