// The cache on the health port: what is in it, and purges.
#pragma once

#include <string_view>

#include "daemon/admin.h"
#include "runtime/session/server.h"

namespace edge::agent {

/// `name value`, one a line: the figures of /metrics without their prefix.
daemon::AdminReply cache_stats(const runtime::Server& server);
/// `query`: `all`, `hostname=PATTERN` or `route=[NAMESPACE/]NAME`. Answers how many responses were removed; 400 for
/// anything else.
daemon::AdminReply purge_cache(runtime::Server& server, std::string_view query);

}  // namespace edge::agent
