// Forwards a request whose response a cache takes part in.
#pragma once

#include "net/task.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/upstream/forward.h"

namespace edge::runtime {

/// Makes of `refresh` what fetches a stale response anew (RFC 5861 §3): the same request once more, for nobody but the
/// cache.
void make_refresh(const ForwardRequest& original, net::Time now, ForwardRequest& refresh);

/// The result, and whether the client is to be answered from the cache.
struct Fetched {
  ExchangeResult result;
  bool stored = false;
};
/// Forwards, with the cache looking on, which may take what comes for itself. All arguments must live until it has
/// ended.
net::Task<Fetched> fetch(cache::Transaction& cache, ForwardRequest& request, const ForwardFor& on_behalf);

}  // namespace edge::runtime
