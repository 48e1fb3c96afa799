// Forwards a request whose response may be stored in the cache.
#pragma once

#include "net/task.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/upstream/forward.h"

namespace edge::runtime {

/// Makes `refresh` the request that revalidates a stale response in the background (RFC 5861 §3).
void make_refresh(const ForwardRequest& original, net::Time now, ForwardRequest& refresh);

/// The result, and whether the client is to be answered from the cache.
struct Fetched {
  ExchangeResult result;
  bool stored = false;
};
/// Forwards the request and passes its response to the cache, which may keep it from the client. All arguments must
/// stay valid until the task has ended.
net::Task<Fetched> fetch(cache::Transaction& cache, ForwardRequest& request, const ForwardFor& on_behalf);

}  // namespace edge::runtime
