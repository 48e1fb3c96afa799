// The commands that ask a cluster: their part of the table of commands (main.cc).
#pragma once

#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

std::vector<cli::Command> resource_commands();

}  // namespace edge::edgectl
