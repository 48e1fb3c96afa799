// Manual pages, from the same table that parser and help are made from.
#pragma once

#include <string>

#include "cli/flags.h"

namespace edge::cli {

/// `edgectl(1)`: what it is, its commands, its flags, variables and exit codes; roff, as man(7) has it.
std::string man_page(const Program& program);
/// `edgectl-get(1)`.
std::string man_page(const Program& program, const Command& command);
/// `edgectl-config-view`, as a page is called: the file adds `.1`.
std::string man_name(const Program& program, const Command& command);

}  // namespace edge::cli
