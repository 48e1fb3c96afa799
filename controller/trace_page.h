// The stored traces for administrators by the agents' port: `/traces/api/...` is the query API.
#pragma once

#include <optional>

#include "controller/distribute/agent_answer.h"
#include "controller/traces/trace_server.h"

namespace edge::controller {

/// Answers a request; nullopt: it is not for traces. `store`: null where no traces are stored. Any thread; a search
/// takes up to five seconds.
std::optional<AgentAnswer> trace_page(traces::TraceServer* store, const AgentQuestion& question);

}  // namespace edge::controller
