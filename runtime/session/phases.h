// The phases of a request that answer by themselves: admission (which rule takes it, and what the rule's policies say
// that need not wait) and the making of what its backend is sent.
#pragma once

#include <optional>

#include "runtime/session/arrival.h"
#include "runtime/session/reply.h"

namespace edge::runtime {

struct Exchange;
class Worker;

// A phase that returns a bool returns false when the request ends with the reply that it has put into `ending`.

/// Sets the request's id and begins its trace; both are taken from the head where a trusted proxy sent it.
void identify(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker);
/// Begins the entry of the access log.
void note(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker);
/// Finds the rule that takes the request (rules D1, D2, D5). Replies 404 where there is none, and
/// 501 to TRACE.
bool choose_rule(Exchange& exchange, const Arrival& arrival, Worker& worker, std::optional<Reply>& ending);
/// Runs the policies of the rule that never wait, in the order of rule D4; authentication, which may, is left to the
/// caller in `exchange.authentication`.
bool pass_policies(Exchange& exchange, const Arrival& arrival, Worker& worker, std::optional<Reply>& ending);

/// Chooses the backend and writes the head that it is sent into the thread's scratch (rules D3, D11). A reply is
/// answered in place of the backend.
bool prepare(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker,
             std::optional<Reply>& ending);

}  // namespace edge::runtime
