// The phases that admit a request: which rule takes it, and what the rule's policies say that need not wait.
#pragma once

#include <optional>

#include "runtime/session/arrival.h"
#include "runtime/session/reply.h"

namespace edge::runtime {

struct Exchange;
class Worker;

/// The request's id and its trace, of which a proxy before us that is trusted may tell.
void identify(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker);
/// Begins what the access log is told of it.
void note(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection, Worker& worker);
/// Rules D1, D2, D5.
std::optional<Reply> choose_rule(Exchange& exchange, const Arrival& arrival, Worker& worker);
/// Rule D4. Leaves to `exchange.authentication` what may have to wait.
std::optional<Reply> pass_policies(Exchange& exchange, const Arrival& arrival, Worker& worker);

}  // namespace edge::runtime
