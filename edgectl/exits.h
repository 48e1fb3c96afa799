// How commands report errors, and their exit codes.
#pragma once

#include <cstdio>
#include <string_view>

#include "cli/flags.h"
#include "cli/terminal.h"

namespace edge::edgectl {

/// Reports a failure of `command`. \returns `code`.
inline int failed(std::string_view command, std::string_view text, int code = cli::kExitFindings) {
  cli::print_error(command, text);
  return code;
}

/// Reports a usage error of `command`. \returns kExitUsage.
inline int usage(std::string_view command, std::string_view text) { return failed(command, text, cli::kExitUsage); }

/// Writes a result to stdout. \returns kExitFindings when it cannot be written.
inline int print(std::string_view text) { return cli::write_text(stdout, text) ? cli::kExitOk : cli::kExitFindings; }

}  // namespace edge::edgectl
