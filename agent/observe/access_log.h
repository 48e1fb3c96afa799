// The access log of a serving process: its flags, its file, which SIGHUP reopens, and its admin page.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/flags.h"
#include "daemon/admin.h"
#include "runtime/observe/access_log/access_log.h"

namespace edge::agent {

std::vector<cli::Flag> access_log_flags();

/// Opens the log as the flags say. Blocks SIGHUP in this thread and those that it starts: to be called before others
/// exist.
Result<std::shared_ptr<runtime::AccessLog>> open_access_log(const cli::Arguments& arguments, const Logger& logger);

/// Serves /debug/access-log: lines of JSON, the last of them {"next":N,"missed":M}.
daemon::AdminReply recent_requests(const runtime::AccessLog& log, std::string_view query);

}  // namespace edge::agent
