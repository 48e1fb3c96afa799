// Properties of stdout and stderr, and messages of long-running programs there.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string_view>

#include "base/diagnostics.h"

namespace edge::cli {

/// Returns colour only for a terminal, and never with NO_COLOR set (https://no-color.org).
Colour colour_for(std::FILE* stream);

/// Returns the width of a terminal in columns; 0: it is none, or does not say.
std::size_t columns_of(std::FILE* stream);

/// Writes all of `text`; false when the reader has closed or the disk is full.
bool write_text(std::FILE* stream, std::string_view text);

/// Writes one line `<program>: <text>` to stderr, in one write, so that lines of several threads do not mix.
void print_message(std::string_view program, std::string_view text);

}  // namespace edge::cli
