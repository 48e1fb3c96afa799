// Combines the states of all agents: which program each runs, and the health of each backend's endpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "controller/distribute/agents/agent_state.h"
#include "controller/distribute/virtual_addresses.h"
#include "controller/federation/run/federation.h"
#include "controller/remote/remote_clusters.h"
#include "controller/status/wan_view.h"

namespace edge::controller {

struct AgentsView {
  /// By address. Healthy where all agents that check it say so.
  using Endpoints = std::map<std::string, EndpointHealth>;

  std::vector<std::uint64_t> programs;        ///< number of the program of each agent, ascending; 0: unknown
  std::uint64_t refused = 0;                  ///< number of the newest program that an agent rejects
  std::string refusal;                        ///< the agent, and the reason
  std::string pinned;                         ///< groups with a pinned program, as text (pinned_words); empty: none
  std::map<std::string, Endpoints> backends;  ///< by `namespace/name`
  /// By `namespace/name` of the backend: names of its endpoints.
  std::map<std::string, std::vector<NameHealth>> names{};
  std::vector<UnboundListener> unbound;                        ///< of all of them, see unbound_of_all
  std::map<std::string, std::vector<AgentVip>> vips;           ///< by `namespace/name` of the ProxyVIP
  remote::RemoteViews remotes{};                               ///< by `namespace/name` of the EdgeRemoteCluster
  std::map<std::string, federation::PeerStatus> federation{};  ///< likewise
  WanView wan{};                                               ///< what agents report of the SD-WAN

  /// Whether all agents run this program or a later one. False without agents.
  bool all_run(std::uint64_t program) const { return !programs.empty() && programs.front() >= program; }
  std::size_t running(std::uint64_t program) const;
};

/// Combines states. `number_of` returns the number of a program by its hash in hex, 0 when unknown. An agent counts
/// from its first program or its first rejection on. `backends`: health over all agents.
AgentsView view_of(const std::vector<AgentState>& agents, const std::vector<BackendHealth>& backends,
                   const std::function<std::uint64_t(const std::string& program)>& number_of);

/// Adds what nobody reports: of each address, and of each Site without an agent, one agent with the labels that it asks
/// for and behind a relay, which passes on neither (decision 412). An address for whichever agent there is, which
/// others know of, misses nothing. After `vips` and `wan`.
void add_behind_relays(const std::vector<AgentState>& agents, const VirtualAddresses& addresses, AgentsView& view);

/// By `namespace/name` of the ProxyVIP, agents ascending.
std::map<std::string, std::vector<AgentVip>> vips_of(const std::vector<AgentVip>& all);
/// Returns the virtual addresses whose reports differ.
std::vector<std::string> vips_that_differ(const AgentsView& a, const AgentsView& b);

/// Returns the backends whose endpoints' or names' health differs between `a` and `b`. The times of checks are ignored.
std::vector<std::string> backends_that_differ(const AgentsView& a, const AgentsView& b);

}  // namespace edge::controller
