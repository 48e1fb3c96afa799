// The state of each agent by name, updated by its streams and read by everything else.
//
// Of several processes with one name the newest counts: reports of older ones are ignored, so that an upgrade, or two
// agents with the same name, cause no confusion.
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

#include "controller/distribute/agents/agent_state.h"
#include "controller/distribute/site_links.h"
#include "controller/distribute/wanted_name.h"

namespace edge::controller {

/// Thread-safe. No function calls back.
class AgentRegistry {
 public:
  static constexpr std::size_t kMaxAgents = 4096;        ///< of this cluster
  static constexpr std::size_t kMaxRelayed = 16'384;     ///< of others, behind their relays
  static constexpr std::size_t kMaxBackends = 20'000;    ///< of an agent
  static constexpr std::size_t kMaxEndpoints = 200'000;  ///< of an agent
  // Of the agents of one site together, so that none takes the room of others: those that went away count until they
  // are forgotten.
  static constexpr std::size_t kMaxSiteAgents = 1024;
  static constexpr std::size_t kMaxSiteBackends = 100'000;
  static constexpr std::size_t kMaxSiteEndpoints = 400'000;

  using BackendName = std::pair<std::string, std::string>;

  /// The content of one report.
  struct Report {
    std::uint64_t connections = 0;
    std::uint64_t requests = 0;
    std::vector<BackendHealth> backends;  ///< that changed
    std::vector<BackendName> removed;
    std::vector<VipState> vips;
    std::vector<UnboundListener> unbound;
    std::vector<WantedName> wanted;  ///< for Hub::wanted, not kept
  };

  /// Registers an agent. `state`: name, node, version, cpu, group, labels, program, unbound, certificate_until.
  /// `instance`: of the process; `session`: of its stream of programs. \returns false at the limit of connected agents.
  bool connected(AgentState state, const std::string& instance, std::uint64_t session, WallTime now);
  /// Ignored unless `session` is the newest of this name. \returns whether anything changed, like all that follow.
  bool lost(const std::string& name, std::uint64_t session, WallTime now);
  /// Each is ignored unless `instance` is the newest of this name.
  bool applied(const std::string& name, const std::string& instance, const std::string& program,
               std::vector<UnboundListener> unbound, WallTime now);
  bool refused(const std::string& name, const std::string& instance, const std::string& program,
               const std::string& reason, WallTime now);
  bool values_applied(const std::string& name, const std::string& instance, std::uint64_t version, WallTime now);
  /// Entries beyond the limits are dropped.
  bool reported(const std::string& name, const std::string& instance, Report report, WallTime now);
  /// `site`: whose assignment the agent was sent.
  bool links_reported(const std::string& name, const std::string& instance, const std::string& site, WanReport report,
                      WallTime now);
  /// What a relay says of an agent of its site, by the name with the cluster before it.
  struct Relayed {
    AgentState state;                     ///< without backends
    std::vector<BackendHealth> backends;  ///< that changed
    std::vector<BackendName> removed;
  };
  /// `session`: of the relay's stream, as above. False at the limit.
  bool relayed(Relayed change, std::uint64_t session, WallTime now);
  /// Records what was last published to a group: the version of values, the hash of a program in hex.
  void published_values(const std::string& group, std::uint64_t version);
  void published_program(const std::string& group, const std::string& program);

  /// Whether every connected agent has said that it runs the program that is published to its group, or refuses it,
  /// with values of this version or a later one. An agent that runs nothing and has refused what it was sent serves
  /// nobody, and does not count.
  bool have_values(std::uint64_t version) const;
  /// Ascending by name, without backends and VIPs.
  std::vector<AgentState> agents() const;
  std::optional<AgentState> agent(const std::string& name) const;
  std::vector<BackendHealth> backends() const;
  /// For connected agents.
  std::vector<AgentVip> vips() const;
  std::vector<AgentWan> wan() const;
  /// Changes with every change except of the values in use.
  std::uint64_t changes() const;

 private:
  struct Entry {
    AgentState state;  ///< without backends
    std::string instance;
    std::uint64_t session = 0;
    std::uint64_t values = 0;
    std::map<BackendName, BackendHealth> backends;
    std::size_t endpoints = 0;
    std::string site;  ///< of `wan`
    std::optional<WanReport> wan;
  };

  /// What the agents of a site take of the bounds.
  struct Site {
    std::size_t agents = 0;
    std::size_t backends = 0;
    std::size_t endpoints = 0;
  };
  /// Of an agent's backends, at most.
  struct Room {
    std::size_t backends = kMaxBackends;
    std::size_t endpoints = kMaxEndpoints;
  };

  Entry* find(const std::string& name, const std::string& instance, WallTime now);
  bool make_room(const std::string& name);
  bool drop_oldest(std::size_t most, const std::function<bool(const std::string&)>& counts);
  /// Takes an entry out of the counts of its site, before it is changed.
  void uncount(const std::string& name, const Entry& entry);
  void count(const std::string& name, const Entry& entry);
  static bool take_backends(Entry& entry, std::vector<BackendHealth> backends, const std::vector<BackendName>& removed,
                            const Room& room);
  static void forget_reports(Entry& entry);
  AgentState state_of(const Entry& entry) const;

  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, Site, std::less<>> sites_;  ///< by cluster
  struct Given {
    std::uint64_t values = 0;
    std::string program;
  };
  std::map<std::string, Given> given_;  ///< by group
  std::uint64_t changes_ = 0;
};

}  // namespace edge::controller
