// The waits of the cache's phase: for another request that fetches the same, and for the client that takes what is
// stored.
#pragma once

#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/exchange_result.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/shape/delivery.h"

namespace edge::runtime::cache {

/// Waits as long as somebody else fetches the same. `plan`, kFetch, becomes kForward, or what can be done with what was
/// fetched, or is being fetched. Not beyond `deadline`, and not long in any case.
net::Task<Failure> join_fetch(Transaction& cache, Transaction::Plan& plan, const ClientEnd& client, net::Loop& loop,
                              net::Time deadline);

/// Sends the stored response that was found. `before`: how the request of the exchange was left.
net::Task<ExchangeResult> deliver_stored(Transaction& cache, const ResponseTarget& target,
                                         const ExchangeResult& before);

}  // namespace edge::runtime::cache
