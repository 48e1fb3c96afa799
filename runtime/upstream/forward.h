// Forward: a connection from the pool, the request over it, and further tries (rule D10).
#pragma once

#include <cstdint>

#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/exchange_result.h"
#include "runtime/phase/request_id.h"
#include "runtime/shape/worker_parts.h"
#include "runtime/upstream/forward_counts.h"
#include "runtime/upstream/forward_request.h"

namespace edge::runtime {

/// On whose behalf a request is forwarded: a client's connection, and the thread that serves it.
struct ForwardFor {
  ClientEnd client;
  WorkerParts worker;
  ForwardCounts& counts;
  Random& random;
};

/// Has the backend answer, and the client get the answer. Both arguments must live until it has ended.
net::Task<ExchangeResult> forward(const ForwardRequest& request, const ForwardFor& on_behalf);

}  // namespace edge::runtime
