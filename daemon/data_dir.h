// The directory of --data-dir, prepared before anything is started.
#pragma once

#include <string>

#include "base/result.h"

namespace edge::daemon {

/// Creates the directory with its parents where it is missing, for this user alone. An error names flag, directory and
/// user, and says what is in the way. What fails later all the same is reported by whoever opens the file.
Status prepare_data_dir(const std::string& path);

}  // namespace edge::daemon
