// What a relay says of one agent of its site, as the registry takes it.
#pragma once

#include <string>

#include "controller/distribute/agents/agent_registry.h"

namespace edge::relay::v1 {
class AgentChange;
}

namespace edge::controller {

/// Untrusted: everything is cut to what an agent could have said itself, and the name is one of `cluster`. The name of
/// the agent must be a subject's without a cluster, which is_subject_name and split_cluster tell.
AgentRegistry::Relayed read_agent_change(const edge::relay::v1::AgentChange& from, const std::string& cluster);

}  // namespace edge::controller
