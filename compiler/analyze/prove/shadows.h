// Rules that lose requests to others, beyond what the proof of one host tells: to other hosts, or some of them only.
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

/// A note (kPartlyShadowed) for each rule and each other rule of its host that takes one of its requests, with such a
/// request, which the interpreter has decided. `program` was compiled from `config`. Compares rules two by two, within
/// a bound on steps for each host; a last note says where that ended the search.
void note_partly_shadowed(const LinkedConfig& config, const program::ProgramView& program, Diagnostics& diagnostics);

}  // namespace edge::compiler::analyze
