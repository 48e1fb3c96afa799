// Admin pages of the cache: statistics, and purging.
#pragma once

#include <string_view>

#include "daemon/admin.h"
#include "runtime/session/server.h"

namespace edge::agent {

/// Writes lines `name value`: the values of /metrics without their prefix.
daemon::AdminReply cache_stats(const runtime::Server& server);
/// Removes the responses that `query` selects: `all`, `hostname=PATTERN` or `route=[NAMESPACE/]NAME`. Answers with
/// their number; 400 for anything else.
daemon::AdminReply purge_cache(runtime::Server& server, std::string_view query);

}  // namespace edge::agent
