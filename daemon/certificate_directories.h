// The flags for certificates: `--tls-files`, directories in which listeners may refer to certificate files, and
// `--acme-dns-hook`, the program that writes TXT records for certificates that are ordered.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"

namespace edge::daemon {

cli::Flag certificate_files_flag();
cli::Flag dns_hook_flag();
/// Returns the flag's values, absolute and without `.` and `..`; each must be an existing directory.
Result<std::vector<std::string>> certificate_directories(const cli::Arguments& arguments);

}  // namespace edge::daemon
