// Reports rules that lose requests to others in ways the proof of one host does not cover: to other hosts, or only some
// requests.
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "program/read.h"

namespace edge::compiler::analyze {

/// Adds a warning (kUnreachableRule) for each rule that no request reaches because every name of its host that the
/// listener serves belongs to a more specific host first, whose rules take all its requests. Findings of the proof of
/// one host are not repeated. `program` was compiled from `config`. Hosts that have names of their own, nearly all,
/// cost one check of the patterns.
void report_hidden_by_hosts(const LinkedConfig& config, const program::ProgramView& program, Diagnostics& diagnostics);

/// Adds a note (kPartlyShadowed) for each rule and each other rule of its host that takes one of its requests, with an
/// example decided by the interpreter. `program` was compiled from `config`. Compares rules pairwise, with a limit of
/// steps per host; a last note says where the search ended.
void note_partly_shadowed(const LinkedConfig& config, const program::ProgramView& program, Diagnostics& diagnostics);

}  // namespace edge::compiler::analyze
