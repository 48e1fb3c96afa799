// Combines the states of all agents: which program each runs, and the health of each backend's endpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/distribute/agent_state.h"

namespace edge::controller {

struct AgentsView {
  /// By address. Healthy where every agent that asks finds it so.
  using Endpoints = std::map<std::string, EndpointHealth>;

  std::vector<std::uint64_t> programs;        ///< number of what each agent runs, ascending; 0: one that is not known
  std::uint64_t refused = 0;                  ///< number of the newest program that any refuses
  std::string refusal;                        ///< who, and why
  std::string pinned;                         ///< whom a rollback holds, in words (pinned_words); empty: nobody
  std::map<std::string, Endpoints> backends;  ///< by `namespace/name`
  /// By `namespace/name` of the backend: names of its endpoints.
  std::map<std::string, std::vector<NameHealth>> names{};
  std::vector<UnboundListener> unbound;               ///< of all of them, see unbound_of_all
  std::map<std::string, std::vector<AgentVip>> vips;  ///< by `namespace/name` of the ProxyVIP

  /// Whether all agents run this program or a later one. False without agents.
  bool all_run(std::uint64_t program) const { return !programs.empty() && programs.front() >= program; }
  std::size_t running(std::uint64_t program) const;
};

/// Combines states. `number_of` gives the number of a program by its hash in hex, 0 when it is not known. An agent
/// counts from its first program or its first refusal on. `backends`: health over all agents.
AgentsView view_of(const std::vector<AgentState>& agents, const std::vector<BackendHealth>& backends,
                   const std::function<std::uint64_t(const std::string& program)>& number_of);

/// By `namespace/name` of the ProxyVIP, agents ascending.
std::map<std::string, std::vector<AgentVip>> vips_of(const std::vector<AgentVip>& all);
/// Of which agents say something else.
std::vector<std::string> vips_that_differ(const AgentsView& a, const AgentsView& b);

/// Names the backends whose endpoints' or names' health differs between `a` and `b`. The time of a check makes no
/// difference.
std::vector<std::string> backends_that_differ(const AgentsView& a, const AgentsView& b);

}  // namespace edge::controller
