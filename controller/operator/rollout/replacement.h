// What is done with agents around their replacement, by pages of their admin ports: the requests of a canary are
// compared with those of the others, and virtual addresses are moved away from agents that are about to end.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "controller/operator/rollout/agent_pages.h"
#include "controller/operator/rollout/canary.h"
#include "net/clock.h"

namespace edge::cluster_operator {

/// The first agent of a new configuration.
struct CanaryAgent {
  std::string name;
  std::chrono::seconds age{};  ///< since it is ready
  std::string before;          ///< what `measure` returned before it was replaced
  std::vector<std::string> others{};
};

/// Every function on the loop, one at a time.
class Replacement {
 public:
  Replacement(net::Loop& loop, AskAgent ask, Logger log)
      : loop_(loop), log_(std::move(log)), pages_(loop, std::move(ask)) {}

  /// Returns what an agent counted in the last five minutes (write_traffic); empty: it cannot be asked.
  net::Task<std::string> measure(net::Waiter& waiter, Controllers controllers, std::string agent);
  /// Moves the addresses that were moved away back to the canary, so that there are requests to be compared.
  net::Task<Comparison> compare(net::Waiter& waiter, Controllers controllers, CanaryAgent canary);
  /// Moves the virtual addresses of agents to others. Returns the agents that may end: they hold none any more, cannot
  /// be asked, no other agent can take the addresses, or it has taken too long. An agent that ends gives its addresses
  /// away itself, too.
  net::Task<std::vector<std::string>> move_away(net::Waiter& waiter, Controllers controllers,
                                                std::vector<std::string> agents);

 private:
  struct Addresses {
    net::Time since{};               ///< of the first attempt to move them
    std::set<std::string> moving{};  ///< `namespace/name`; asked for since then
    std::set<std::string> moved{};   ///< the same, until the agent is a canary that has them back
  };
  net::Task<bool> move_from(net::Waiter& waiter, Controllers controllers, std::string agent,
                            std::vector<std::string> held);
  net::Task<bool> give_back(net::Waiter& waiter, Controllers controllers, std::string agent);

  net::Loop& loop_;
  Logger log_;
  AgentPages pages_;
  std::map<std::string, Addresses> addresses_;  ///< by agent
};

}  // namespace edge::cluster_operator
