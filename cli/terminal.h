// What stdout and stderr are connected to.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/diagnostics.h"

namespace edge::cli {

/// Colour on a terminal alone, and never with NO_COLOR set (https://no-color.org).
Colour colour_for(std::FILE* stream);

/// Writes all of `text`; false when the reader went away or the disk is full.
bool write_text(std::FILE* stream, std::string_view text);

}  // namespace edge::cli
