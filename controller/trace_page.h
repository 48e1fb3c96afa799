// The traces that are kept, for administrators who ask by the agents' port: `/traces/api/...` is the query API.
#pragma once

#include <optional>

#include "controller/distribute/agent_answer.h"
#include "controller/traces/trace_server.h"

namespace edge::controller {

/// nullopt: the question is about something else. `store`: null where no traces are kept. From any thread; a search
/// takes up to five seconds.
std::optional<AgentAnswer> trace_page(traces::TraceServer* store, const AgentQuestion& question);

}  // namespace edge::controller
