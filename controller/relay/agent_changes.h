// What of a site's agents the hub has not been told yet: the difference between the registry now and at the last time.
//
// A change of what an agent runs is told at once. Health of backends is looked at once a second at most, and counts
// that always change, every ten: a site at rest says nothing.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/distribute/distributor.h"

namespace edge::relay::v1 {
class AgentsUp;
}

namespace edge::controller::relay {

/// Of one session: the first time tells everything. Not thread-safe.
class AgentChanges {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kHealthEvery = std::chrono::seconds(1);
  static constexpr auto kCountsEvery = std::chrono::seconds(10);
  /// Agents that are connected at once; more are served, and not told of. The hub takes as many.
  static constexpr std::size_t kMostAgents = 1000;

  /// `hub_version`: of a version of values of this relay, that of the hub's.
  AgentChanges(const Distributor& agents, std::function<std::uint64_t(const AgentState&)> hub_version)
      : agents_(agents), hub_version_(std::move(hub_version)) {}

  /// Passes what is new to `say`, in messages of bounded size. False: `say` was false.
  bool tell(Clock::time_point now, const std::function<bool(const edge::relay::v1::AgentsUp&)>& say);
  /// Returns the number of changes that were told the last time.
  std::size_t last() const { return last_; }

 private:
  using Name = std::pair<std::string, std::string>;
  struct Told {
    AgentState state;  ///< without backends
    std::uint64_t values = 0;
    std::map<Name, BackendHealth> backends;
  };

  const Distributor& agents_;
  const std::function<std::uint64_t(const AgentState&)> hub_version_;
  std::map<std::string, Told> told_;
  std::size_t connected_ = 0;  ///< of these
  std::size_t last_ = 0;
  std::optional<std::uint64_t> seen_;  ///< Distributor::changes at the last look at health
  Clock::time_point next_health_{};
  Clock::time_point next_counts_{};
};

}  // namespace edge::controller::relay
