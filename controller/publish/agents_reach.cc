#include "controller/publish/agents_reach.h"

#include <algorithm>
#include <utility>

#include "controller/distribute/unbound_listeners.h"

namespace edge::controller {

const acme::AgentsReach& ReachView::look(const Distributor& distributor) {
  // Read first: what comes meanwhile is seen by the next call.
  const std::uint64_t changes = distributor.changes();
  if (std::exchange(changes_, changes) == changes) return reach_;
  const std::vector<AgentState> agents = distributor.agents();
  reach_ = {};
  reach_.any =
      std::ranges::any_of(agents, [](const AgentState& agent) { return agent.connected && !agent.program.empty(); });
  for (UnboundListener& one : unbound_of_all(agents)) {
    // It listens: a CA that comes for an answer needs no certificate.
    if (one.fault == BindFault::kCertificate) continue;
    reach_.unreached.push_back({one.gateway_id, std::move(one.listener), one.address + ", " + one.reason});
  }
  return reach_;
}

}  // namespace edge::controller
