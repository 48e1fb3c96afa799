// Distributes programs and values to agents: the controller's side of schemas/agent.proto. For each group of agents it
// has one published program and its values, each with a version of its own, and the state of each agent that connected
// in this run; docs/agents.md, decision 0059.
//
// A newer program replaces one that was not sent yet, so that an agent that reads slowly costs the memory of one
// program, and delays no other. The same for values.
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
#include "controller/distribute/agents/agent_state.h"
#include "controller/distribute/local_agent.h"
#include "controller/distribute/progress.h"
#include "controller/distribute/questions.h"
#include "controller/distribute/site_links.h"
#include "controller/distribute/virtual_addresses.h"
#include "controller/distribute/wanted_name.h"
#include "program/values/value_set.h"

namespace edge::net {
class Loop;
}

namespace grpc {
class Service;
}

namespace edge::controller {

class Hub;

/// What is published to the agents of a group. Unset members stay as published before.
struct Published {
  /// Used with the values published with it, else with the last ones; not sent before there are values.
  std::shared_ptr<const std::vector<std::byte>> program{};
  /// Endpoints and secrets: everything that the program needs.
  std::optional<program::ValueSet> values{};
  std::string group = std::string(kDefaultGroup);
  /// The secrets are not known: what is published is for agents that run nothing yet. Others keep what they have.
  bool lacks_secrets = false;
};

/// The history, for inspect calls. Called on server threads, concurrently; these are few, so that blocking delays
/// agents.
struct HistorySource {
  std::function<Result<std::vector<HistoryEntry>>(const std::string& group)> list;       ///< newest first; kNotFound
  std::function<Status(const std::string& group, const std::string& program)> rollback;  ///< pins the program;
                                                                                         ///< kNotFound
  std::function<Status(const std::string& group)> release;                               ///< removes the pin
  /// Returns the bytes of a program that is not published any more; null function or pointer: not stored.
  std::function<std::shared_ptr<const std::vector<std::byte>>(const std::string& program)> bytes{};
};

struct DistributorOptions {
  std::string listen = "0.0.0.0:9090";  ///< port 0: the system chooses, see `port`
  std::string listen_flag{};            ///< the flag that sets it, for error messages
  /// The directory of the authority, the agents' join file and the administrator's file
  /// (controller/authority/authority.h).
  std::string data_dir;
  /// PEM of the public key of programs, for the agents' verification.
  std::string program_key;
  /// Gets log messages: connections, rejections, invalid credentials. From any thread.
  Logger log;
  HistorySource history{};
  ProgressSource progress{};
  /// The label whose value is an agent's group.
  std::string group_label{};
  /// Called when the first agent of a group connects, including `default`. On a server thread that all agents wait for:
  /// must not block. May be null.
  std::function<void(const std::string& group)> group_came{};
  /// Called with names that clients ask agents for, on server threads; must not block. May be null.
  std::function<void(std::vector<WantedName>)> wanted{};
  /// Limit of memory for outdated programs that are still being sent to slow agents. Beyond it the agents that receive
  /// the oldest are disconnected; they reconnect and get the newest.
  std::size_t most_pinned = std::size_t{256} << 20;
  /// Makes further services of the port, for callers with certificates of the hub's authority; null: none. Called once,
  /// before there are connections; the hub outlives them.
  std::function<std::vector<std::shared_ptr<grpc::Service>>(Hub&)> further{};
  /// Answers `Ask` for the controller itself, at once or later: its own admin pages. On server threads; null: none.
  std::function<void(const AgentQuestion&, const TakeAnswer&)> own_pages{};
  /// Tells other controllers of the cluster which agents are revoked here (Authority::revoked_agents), and calls
  /// `done` (empty: nobody waits), at once or later, on any thread, when they can know. Must not block; null: there are
  /// no others.
  std::function<void(std::function<void(Status)> done)> share_revoked{};
  /// Whether this controller knows which agents others have revoked: until then no certificate is renewed, by which an
  /// agent would get out of its revocation. On server threads; must not block; null: always.
  std::function<bool()> knows_revoked{};
  bool replace_early = false;  ///< AuthorityOptions
  /// Join files say `program_key`: agents take none that this controller says later. For a relay.
  bool fixes_program_key = false;
  /// Accepts connections, as long as the distributor is there; gRPC and its threads start with the first one. null:
  /// gRPC starts at once, and accepts them itself.
  net::Loop* accept_on = nullptr;
  /// null: the system's. For tests of expiry and rotation.
  std::function<WallTime()> clock{};
};

/// Thread-safe.
class Distributor {
 public:
  static Result<std::unique_ptr<Distributor>> start(DistributorOptions options);
  /// Calls stop().
  ~Distributor();
  Distributor(const Distributor&) = delete;
  Distributor& operator=(const Distributor&) = delete;

  /// Ends every stream and call; agents continue to serve. Afterwards the history is not used.
  void stop();
  /// Replaces what is published, and returns its version, as AgentState::values. Returns at once; it is sent to agents
  /// that do not have it, once there are a program and values.
  std::uint64_t publish(Published published);
  /// Replaces the virtual addresses for agents, independently of programs and values.
  void publish(std::shared_ptr<const VirtualAddresses> addresses);
  /// Likewise the assignments of the SD-WAN's sites.
  void publish(std::shared_ptr<const std::vector<SiteLinks>> sites);
  /// Sets the group label of a node, used for its agents without a group label of their own; empty: the node has none.
  void set_node_group(const std::string& node, std::string group);
  /// As Authority's: which agents are revoked, and what other controllers say of it. Their streams end within a second.
  std::string revoked_agents() const;
  Status learn_revoked_agents(std::string_view text);
  /// Likewise of the labels that node selectors of virtual addresses and sites name.
  void set_node_labels(const std::string& node, Labels labels);
  /// Whether every connected agent has reported that it runs with values of this version, as `publish` returned it, or
  /// of a later one. AgentState::values_current does not say so: until the server's thread has come to what `publish`
  /// was given, agents are current with what was published before.
  bool have_values(std::uint64_t version) const;
  /// Ascending by name, without backends and VIPs; those that went away are kept (at most 4,096 in all).
  std::vector<AgentState> agents() const;
  /// With backends and VIPs; nullopt when no agent of this name ever connected.
  std::optional<AgentState> agent(const std::string& name) const;
  /// Merges the reports of all connected agents, ascending by namespace and name: an endpoint is healthy when all
  /// agents that report it say so; otherwise the latest error is returned.
  std::vector<BackendHealth> backends() const;
  /// Returns the virtual addresses as reported by connected agents.
  std::vector<AgentVip> vips() const;
  /// Returns what connected agents report of the SD-WAN.
  std::vector<AgentWan> wan() const;
  /// Changes when any of these changes, except for the values in use, which change most often.
  std::uint64_t changes() const;
  /// Returns why an agent that runs `program` (its hash, hex) does not run the published one, as a sentence; empty: it
  /// does.
  std::string behind(const std::string& agent, const std::string& program) const;
  /// An agent in this process. It must be gone before the distributor is.
  Result<std::unique_ptr<LocalAgent>> connect(std::string name, const std::string& hello, LocalAgentEvents events);
  /// Called after any of them changed, on a thread of the server: gather, do not work. Replaces the one before. Does
  /// not return while a call of the one before is under way.
  void on_change(std::function<void()> callback);
  /// Asks an agent as Inspect does. `take` is called once, on a thread of the server, perhaps before this returns.
  void ask(const std::string& agent, const AgentQuestion& question,
           const std::function<void(Result<AgentAnswer>)>& take) const;

  /// Returns the hash of the program that is published to the group `default`, hex; empty: none yet.
  std::string published() const;
  /// Returns its bytes; null: none yet.
  std::shared_ptr<const std::vector<std::byte>> published_bytes() const;
  /// Authority::has_issued.
  bool has_issued(const std::string& certificate) const;
  std::uint16_t port() const;
  /// Returns the address for clients on this machine, `HOST:PORT`.
  std::string address() const;
  /// `<data-dir>/agents/join`: for `edge-agent --token-file`. `<data-dir>/agents/admin.pem`: for edgectl.
  std::string join_file() const;
  std::string admin_file() const;

 private:
  struct Impl;
  explicit Distributor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller
