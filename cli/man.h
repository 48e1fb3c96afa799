// Generates manual pages, from the same table as parser and help.
#pragma once

#include <string>

#include "cli/flags.h"

namespace edge::cli {

/// Returns `edgectl(1)`: description, commands, flags, variables and exit codes; roff, as in man(7).
std::string man_page(const Program& program);
/// Returns `edgectl-get(1)`.
std::string man_page(const Program& program, const Command& command);
/// Returns a page's name, `edgectl-config-view`: the file adds `.1`.
std::string man_name(const Program& program, const Command& command);

}  // namespace edge::cli
