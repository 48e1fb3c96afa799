// The flag `--tls-files`: below which directories listeners may have files of certificates.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"

namespace edge::daemon {

cli::Flag certificate_files_flag();
/// What the flag says, absolute and without `.` and `..`; each has to be a directory that is there.
Result<std::vector<std::string>> certificate_directories(const cli::Arguments& arguments);

}  // namespace edge::daemon
