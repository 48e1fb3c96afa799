// `edge-standalone --check`: whether the files would be served, without serving them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edge::standalone {

/// Reads and compiles the files as a start does, and asks no API: what the resources that are kept add is not known.
/// `certificate_directories` as ControllerOptions has them.
/// Findings go to stderr, one line with their number to stdout. \returns the exit code: 1 for errors.
int check_files(std::string_view program, const std::vector<std::string>& paths, std::string_view controller_class,
                const std::vector<std::string>& certificate_directories);

}  // namespace edge::standalone
