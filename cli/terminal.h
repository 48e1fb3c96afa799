// What stdout and stderr are connected to, and the lines that a long-running program writes there.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/diagnostics.h"

namespace edge::cli {

/// Colour on a terminal alone, and never with NO_COLOR set (https://no-color.org).
Colour colour_for(std::FILE* stream);

/// Writes all of `text`; false when the reader went away or the disk is full.
bool write_text(std::FILE* stream, std::string_view text);

/// One line `<program>: <text>` on stderr, in one write, so that lines of several threads stay whole.
void print_message(std::string_view program, std::string_view text);

}  // namespace edge::cli
