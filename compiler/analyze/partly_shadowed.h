// Rules some of whose requests others take: not a fault, but the answer to "why does this rule not get that request?".
#pragma once

#include "base/diagnostics.h"
#include "compiler/link/linked_config.h"
#include "program/read.h"

namespace edge::compiler::analyze {

/// A note (kPartlyShadowed) for each rule and each other rule of its host that takes one of its requests, with such a
/// request, which the interpreter has decided. `program` was compiled from `config`. Compares rules two by two, within
/// a bound on steps for each host; a last note says where that ended the search.
void note_partly_shadowed(const LinkedConfig& config, const program::ProgramView& program, Diagnostics& diagnostics);

}  // namespace edge::compiler::analyze
