#include "compiler/link/defaults.h"

namespace edge::compiler::link {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Defaults kDefaults = {
    .controller_class = EDGE_API_GROUP "/proxy",
    .gateway_body_limit = std::uint64_t{10} << 20,
    .weight = 1,
    .redirect_status = 302,
    .balance = program::Balance::kRoundRobin,
    .connect_timeout = seconds(5),
    .upstream_idle_timeout = seconds(60),
    .max_connections = 1000,
    .max_pending_requests = 100,
    .max_requests_per_connection = 0,
    .max_idle_connections = 128,
    .retries = 1,
    .retry_on = program::kRetryConnectFailure | program::kRetryRefusedStream | program::kRetryReset,
    .backoff_base = milliseconds(25),
    .backoff_max = milliseconds(250),
};

}  // namespace edge::compiler::link
