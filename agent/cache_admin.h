// The cache on the health port: what is in it, and purges.
#pragma once

#include <string_view>

#include "agent/admin.h"
#include "runtime/session/server.h"

namespace edge::agent {

/// `name value`, one a line: the figures of /metrics without their prefix.
AdminReply cache_stats(const runtime::Server& server);
/// `query`: `all`, `hostname=PATTERN` or `route=[NAMESPACE/]NAME`. Answers how many responses were removed; 400 for
/// anything else.
AdminReply purge_cache(runtime::Server& server, std::string_view query);

}  // namespace edge::agent
