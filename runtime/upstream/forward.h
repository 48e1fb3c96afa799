// Forwards a request: takes a connection from the pool, sends the request, retries (rule D10).
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

/// The client's connection for which a request is forwarded, and the thread that serves it.
struct ForwardFor {
  ClientEnd client;
  WorkerParts worker;
  ForwardCounts& counts;
  Random& random;
};

/// Forwards the request to its backend, and the response to the client. Both arguments must stay valid until the task
/// has ended.
net::Task<ExchangeResult> forward(const ForwardRequest& request, const ForwardFor& on_behalf);

}  // namespace edge::runtime
