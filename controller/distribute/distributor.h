// Programs and values to agents: the controller's end of schemas/agent.proto. Keeps one program and the values beside
// it published for each group of agents, each with a version of its own, and a state for each agent that ever connected
// in this run; docs/agents.md, decision 0059.
//
// A newer program takes the place of one that was not sent yet, so an agent that reads slowly costs what one program
// costs, and harms no other. Values likewise.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/log.h"
#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "controller/distribute/agent_state.h"
#include "controller/distribute/progress.h"
#include "controller/distribute/virtual_addresses.h"
#include "program/values/value_set.h"

namespace edge::controller {

/// What the agents of a group are given from now on. What is not in it stays as it was published last.
struct Published {
  /// Runs with the values that come with it, or else with those that were published last, and with none before them.
  std::shared_ptr<const std::vector<std::byte>> program{};
  /// Endpoints and secrets: all that the program needs.
  std::optional<program::ValueSet> values{};
  std::string group = std::string(kDefaultGroup);
};

/// What the inspect calls need of whoever keeps the history. Called on threads of the server, several at
/// once; there are few of them, so what waits holds agents up.
struct HistorySource {
  std::function<Result<std::vector<HistoryEntry>>(const std::string& group)> list;       ///< newest first; kNotFound
  std::function<Status(const std::string& group, const std::string& program)> rollback;  ///< pins it; kNotFound
  std::function<Status(const std::string& group)> release;                               ///< ends the pin
  /// Bytes of a program that is not published now; null function or pointer: not kept.
  std::function<std::shared_ptr<const std::vector<std::byte>>(const std::string& program)> bytes{};
};

struct DistributorOptions {
  std::string listen = "0.0.0.0:9090";  ///< port 0: the system chooses, see `port`
  std::string listen_flag{};            ///< what chooses it, for whoever cannot have it
  /// Where the authority, the join file for agents and the administrator's file are kept (controller/authority.h).
  std::string data_dir;
  /// PEM of the key that programs are signed with: what agents are told to verify by.
  std::string program_key;
  /// Lines for an operator: connections, refusals, wrong credentials. From any thread.
  Logger log;
  HistorySource history{};
  ProgressSource progress{};
  /// The label whose value names an agent's group.
  std::string group_label{};
  /// An agent came that is the first of its group, `default` included. On a thread of the server that all agents wait
  /// for: pass on, do not work. null: nobody asks.
  std::function<void(const std::string& group)> group_came{};
  /// Of programs that were replaced while slow agents are still being sent them, together. Beyond it, who is sent the
  /// oldest is disconnected, comes back and is sent the newest.
  std::size_t most_pinned = std::size_t{256} << 20;
  /// What the controller itself says to `Ask`: its own admin port's pages. On threads of the server; null: nothing.
  std::function<AgentAnswer(const AgentQuestion&)> own_pages{};
  bool replace_early = false;  ///< AuthorityOptions
  /// null: the system's. For tests of expiry and rotation.
  std::function<WallTime()> clock{};
};

/// Every function may be called from any thread.
class Distributor {
 public:
  static Result<std::unique_ptr<Distributor>> start(DistributorOptions options);
  /// Stops.
  ~Distributor();
  Distributor(const Distributor&) = delete;
  Distributor& operator=(const Distributor&) = delete;

  /// Ends every stream and every call; agents serve on. Afterwards the history is asked no more.
  void stop();
  /// Replaces what is published. Returns at once; agents that lack it are sent it, once there have been a program and
  /// values.
  void publish(Published published);
  /// Replaces the virtual addresses that agents are given, apart from programs and values.
  void publish(std::shared_ptr<const VirtualAddresses> addresses);
  /// What the group label of a node is from now on, which counts for its agents that have none of their own; empty: the
  /// node has none.
  void set_node_group(const std::string& node, std::string group);
  /// Likewise of the labels that node selectors of virtual addresses name.
  void set_node_labels(const std::string& node, Labels labels);
  /// Ascending by name, without backends and VIPs; those that went away are kept (at most 4,096 in all).
  std::vector<AgentState> agents() const;
  /// With backends and VIPs; nullopt when none of this name was ever here.
  std::optional<AgentState> agent(const std::string& name) const;
  /// Of all connected agents together, ascending by namespace and name: an endpoint is healthy when every agent that
  /// reports it says so; of the others the latest error stands.
  std::vector<BackendHealth> backends() const;
  /// What connected agents say of virtual addresses.
  std::vector<AgentVip> vips() const;
  /// Another number once any of these is another, but for which values are at work: most changes are of those.
  std::uint64_t changes() const;
  /// Why an agent that runs `program` (its hash, hex) does not run what is published, in a line; empty: it does.
  std::string behind(const std::string& agent, const std::string& program) const;
  /// Called after any of them changed, on a thread of the server: gather, do not work. Replaces the one before. Does
  /// not return while a call of the one before is under way.
  void on_change(std::function<void()> callback);

  std::uint16_t port() const;
  /// `HOST:PORT` by which this machine reaches it.
  std::string address() const;
  /// `<data-dir>/agents/join`: what `edge-agent --token-file` takes. `<data-dir>/agents/admin.pem`: what edgectl takes.
  std::string join_file() const;
  /// Of an agent in this process: by it one of this name joins whatever key it has. Lasts as long as the process.
  Result<std::string> own_join_file(const std::string& name) const;
  std::string admin_file() const;

 private:
  struct Impl;
  explicit Distributor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
