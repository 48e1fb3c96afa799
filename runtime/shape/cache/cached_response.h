// The waits of the cache phase: for another request that fetches the same response, and for the client while a stored
// response is sent.
#pragma once

#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/exchange_result.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/shape/delivery.h"

namespace edge::runtime::cache {

/// Waits while another request fetches the same response. Changes `plan` from kFetch to kForward, or to what can be
/// done with the response that was or is being fetched. Waits until `deadline` at most, and a few seconds in any case.
net::Task<Failure> join_fetch(Transaction& cache, Transaction::Plan& plan, const ClientEnd& client, net::Loop& loop,
                              net::Time deadline);

/// Sends the stored response that was found. `before`: the state of the exchange's request.
net::Task<ExchangeResult> deliver_stored(Transaction& cache, const ResponseTarget& target,
                                         const ExchangeResult& before);

}  // namespace edge::runtime::cache
