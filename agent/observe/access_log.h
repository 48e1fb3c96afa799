// The access log as a process that serves has it: its flags, its file, which SIGHUP opens anew, its page.
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

/// Opens it as the flags say. From then on SIGHUP is held in this thread and all that it starts: call it before there
/// are others.
Result<std::shared_ptr<runtime::AccessLog>> open_access_log(const cli::Arguments& arguments, const Logger& logger);

/// Answers /debug/access-log: lines of JSON, the last of them {"next":N,"missed":M}.
daemon::AdminReply recent_requests(const runtime::AccessLog& log, std::string_view query);

}  // namespace edge::agent
