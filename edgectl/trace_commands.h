// `edgectl trace …`: their part of the table of commands (main.cc).
#pragma once

#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

std::vector<cli::Command> trace_commands();

}  // namespace edge::edgectl
