// `edge-standalone --check`: checks whether the files could be served, without serving them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edge::standalone {

/// Reads and compiles the files as at a start, without an API: stored resources are not considered.
/// `certificate_directories` as in ControllerOptions. Findings go to stderr, one line with their number to stdout.
/// \returns the exit code: 1 for errors.
int check_files(std::string_view program, const std::vector<std::string>& paths, std::string_view controller_class,
                const std::vector<std::string>& certificate_directories);

}  // namespace edge::standalone
