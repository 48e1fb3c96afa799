// A report of an agent as the registry takes it.
#pragma once

#include "controller/distribute/agents/agent_registry.h"

namespace edge::agent::v1 {
class Report;
}

namespace edge::controller {

/// What is over a bound is left out.
AgentRegistry::Report read_report(const agent::v1::Report& from);

}  // namespace edge::controller
