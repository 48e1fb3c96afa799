// The log of a daemon: its flags, and its pages under /debug.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/flags.h"
#include "daemon/debug_pages.h"

namespace edge::daemon {

/// --log-format and --log-level.
std::vector<cli::Flag> log_flags();
LogOptions log_options(std::string program, const cli::Arguments& arguments);

/// Adds /debug/logs and /debug/log-level. `log` must outlive the pages.
void add_log_pages(DebugPages& pages, Log& log);

/// Logs the error that the daemon exits with. \returns its exit code.
int failed(Log& log, const Error& error);

}  // namespace edge::daemon
