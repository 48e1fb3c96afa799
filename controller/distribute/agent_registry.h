// Who is there, and how it fares: a state for each agent by name, fed by its streams and asked by everyone else.
//
// Of several processes with one name the newest counts: what an older one still says is passed over, so one that takes
// over from another, or two that were given one name, confuse nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/distribute/agent_state.h"

namespace edge::controller {

/// Every function may be called from any thread. None calls out.
class AgentRegistry {
 public:
  static constexpr std::size_t kMaxAgents = 4096;
  static constexpr std::size_t kMaxBackends = 20'000;    ///< of an agent
  static constexpr std::size_t kMaxEndpoints = 200'000;  ///< of an agent

  using BackendName = std::pair<std::string, std::string>;

  /// What one report says.
  struct Report {
    std::uint64_t connections = 0;
    std::uint64_t requests = 0;
    std::vector<BackendHealth> backends;  ///< that changed
    std::vector<BackendName> removed;
    std::vector<VipState> vips;
    std::vector<UnboundListener> unbound;
  };

  /// `state`: name, node, version, cpu, group, labels, program, unbound, certificate_until. `instance`: of the process;
  /// `session`: of its stream of programs. \returns false when there is no room: as many as may be are connected.
  bool connected(AgentState state, const std::string& instance, std::uint64_t session, WallTime now);
  /// Passed over unless `session` is the newest of this name. \returns whether anything changed, as all that follow.
  bool lost(const std::string& name, std::uint64_t session, WallTime now);
  /// Each is passed over unless `instance` is the newest of this name.
  bool applied(const std::string& name, const std::string& instance, const std::string& program,
               std::vector<UnboundListener> unbound, WallTime now);
  bool refused(const std::string& name, const std::string& instance, const std::string& program,
               const std::string& reason, WallTime now);
  bool values_applied(const std::string& name, const std::string& instance, std::uint64_t version, WallTime now);
  /// What is over a bound is left out.
  bool reported(const std::string& name, const std::string& instance, Report report, WallTime now);
  /// What a group was given last: the version of values, the hash of a program in hex.
  void published_values(const std::string& group, std::uint64_t version);
  void published_program(const std::string& group, const std::string& program);

  /// Ascending by name, without backends and VIPs.
  std::vector<AgentState> agents() const;
  std::optional<AgentState> agent(const std::string& name) const;
  std::vector<BackendHealth> backends() const;
  /// Of connected agents.
  std::vector<AgentVip> vips() const;
  /// Another number after every change but of which values are at work.
  std::uint64_t changes() const;

 private:
  struct Entry {
    AgentState state;  ///< without backends
    std::string instance;
    std::uint64_t session = 0;
    std::uint64_t values = 0;
    std::map<BackendName, BackendHealth> backends;
    std::size_t endpoints = 0;
  };

  Entry* find(const std::string& name, const std::string& instance, WallTime now);
  bool make_room();
  AgentState state_of(const Entry& entry) const;

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  struct Given {
    std::uint64_t values = 0;
    std::string program;
  };
  std::map<std::string, Given> given_;  ///< by group
  std::uint64_t changes_ = 0;
};

}  // namespace edge::controller
