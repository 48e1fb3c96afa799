// How commands end: what they say of it, and the code.
#pragma once

#include <cstdio>
#include <string_view>

#include "cli/flags.h"
#include "cli/terminal.h"

namespace edge::edgectl {

/// Tells what `command` failed at. \returns `code`.
inline int failed(std::string_view command, std::string_view text, int code = cli::kExitFindings) {
  cli::print_error(command, text);
  return code;
}

/// Tells what is wrong with how `command` was called. \returns kExitUsage.
inline int usage(std::string_view command, std::string_view text) { return failed(command, text, cli::kExitUsage); }

/// Writes an answer to stdout. \returns kExitFindings when it cannot be written.
inline int print(std::string_view text) { return cli::write_text(stdout, text) ? cli::kExitOk : cli::kExitFindings; }

}  // namespace edge::edgectl
