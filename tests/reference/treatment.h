// What becomes of the requests that a rule takes: where they go, what is changed in them, who gets copies, which
// policies they pass. In the words of the configuration, and as a program has it: one form of text, so that the two can
// be held against each other.
#pragma once

#include <string>

#include "compiler/link/linked_config.h"
#include "program/read.h"
#include "tests/reference/reference.h"

namespace edge::reference {

/// Rules D3 and D4 as decisions.md words them.
std::string treatment_of(const compiler::LinkedConfig& config, const Answer& answer);

std::string treatment_of(const program::ProgramView& program, const program::SectionView& host,
                         const program::ActionRecord& action);

}  // namespace edge::reference
