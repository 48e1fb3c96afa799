// The phase in which a request becomes what its backend is sent: rules D3, D11.
#pragma once

#include <optional>

#include "runtime/session/arrival.h"
#include "runtime/session/reply.h"

namespace edge::runtime {

struct Exchange;
class Worker;

/// Without a reply, the head to send stands in the thread's scratch.
std::optional<Reply> prepare(Exchange& exchange, const Arrival& arrival, const ClientConnection& connection,
                             Worker& worker);

}  // namespace edge::runtime
