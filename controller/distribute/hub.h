// The meeting point of all agents' streams: what is published, which streams to notify, and which agents may connect.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/labels.h"
#include "base/log.h"
#include "controller/authority/authority.h"
#include "controller/distribute/agents/agent_registry.h"
#include "controller/distribute/distributor.h"
#include "controller/distribute/limit_exchange.h"
#include "controller/distribute/publication.h"
#include "controller/distribute/questions.h"
#include "controller/distribute/site_links.h"
#include "controller/distribute/stream.h"
#include "controller/distribute/virtual_addresses.h"

namespace edge::controller {

/// Thread-safe.
class Hub {
 public:
  /// The number of programs whose section table is kept: an agent that reconnects with one of them gets the difference.
  static constexpr std::size_t kRememberedOutlines = 8;
  /// Limit for one run of the controller; agents of further groups are rejected.
  static constexpr std::size_t kMaxGroups = 64;
  /// Seven streams per agent, three per relay.
  static constexpr std::size_t kMaxStreams = 7 * AgentRegistry::kMaxAgents + 3 * 1024;
  /// Limit for one agent, including streams of an earlier session, so that it cannot use up the streams of others.
  static constexpr std::size_t kMaxStreamsOfOne = 42;
  /// A stream without progress for so long is ended: its agent must reconnect.
  static constexpr auto kPatience = std::chrono::seconds(60);

  Hub(const DistributorOptions& options, std::unique_ptr<Authority> authority);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  Authority& authority() { return *authority_; }
  const Authority& authority() const { return *authority_; }
  AgentRegistry& registry() { return registry_; }
  Questions& questions() { return questions_; }
  LimitExchange& limits() { return limits_; }
  const std::function<void(const AgentQuestion&, const TakeAnswer&)>& own_pages() const { return own_pages_; }
  const HistorySource& history() const { return history_; }
  const ProgressSource& progress() const { return progress_; }
  /// Identifies this process: its numbers are not comparable with another's.
  const std::string& run() const { return run_; }
  const std::string& program_key() const { return program_key_; }
  WallTime now() const;

  /// What to send. Both members are set, or none.
  struct Current {
    std::shared_ptr<const Publication> program;
    std::shared_ptr<const Values> values;
  };

  /// Returns the version, as agents acknowledge it.
  std::uint64_t publish(Published published);
  /// Versions of the values that were last published, sent or not.
  struct Announced {
    std::uint64_t newest = 0;
    std::map<std::string, std::uint64_t, std::less<>> by_group;
  };
  Announced announced() const;
  /// What put an agent into its group.
  struct Membership {
    std::string label{};  ///< the agent's own; empty: the node's label counts
    std::string node{};
    std::string group{};
  };
  /// Adds the agent's group if needed, and returns it. kResourceExhausted: there are too many.
  Result<Membership> enter_group(const AgentState& agent);
  /// For agents behind a relay, whose labels it has looked at.
  Result<Membership> enter_group(const std::string& group);
  /// Sets the label of a node; empty: it has none. Agents whose group changes by it must reconnect.
  void set_node_group(const std::string& node, std::string group);
  /// Returns whether the group has changed since it was entered.
  bool is_moved(const Membership& membership) const;
  /// What was published before this version is not sent to any agent any more.
  std::uint64_t oldest_sent() const;
  Current current(std::string_view group) const;
  /// Returns the section table of a recent program; null: unknown.
  std::shared_ptr<const Outline> outline(std::string_view hash) const;

  void publish_addresses(std::shared_ptr<const VirtualAddresses> addresses);
  CurrentAddresses current_addresses() const;
  /// Of what it returns, the two versions: addresses of many agents are copied only when they are others.
  std::pair<std::uint64_t, std::uint64_t> address_versions() const;
  /// Replaces the assignments of the SD-WAN's sites.
  void publish_links(std::shared_ptr<const std::vector<SiteLinks>> sites);
  CurrentLinks current_links() const;
  /// As `address_versions`.
  std::pair<std::uint64_t, std::uint64_t> link_versions() const;
  /// What the labels of a node are from now on, of those that node selectors of addresses and sites name.
  void set_node_labels(const std::string& node, Labels labels);
  Labels node_labels(const std::string& node) const;
  /// Where an agent hears the others. It stays as long as this process, whether the agent does or not.
  void note_member(const std::string& name, const std::string& address);

  /// False: there are too many, or too many of this agent.
  bool add(std::shared_ptr<Stream> stream);
  void remove(const Stream& stream);
  /// Called when another process uses this agent's name: the older process's streams end, soon and on another thread.
  void end_older(const Stream& stream);
  /// Also ends every stream of the agent, and waits some seconds until other controllers can know. kUnavailable: they
  /// do not know it yet; kFailedPrecondition: the agent is another cluster's.
  Status revoke(const std::string& name);
  /// Tells them what was revoked beside, as by a join with a token for one name.
  void share_revoked() const;
  /// DistributorOptions::knows_revoked.
  bool knows_revoked() const { return !knows_revoked_ || knows_revoked_(); }

  /// Notes a change of an agent's state: the owner is notified soon, once for many changes.
  void changed();
  void on_change(std::function<void()> callback);

  /// Hands on names that clients ask agents of these groups for, of listeners that the groups are given certificates
  /// for on demand; the others are left out: nobody has anything ordered at a listener that it does not serve.
  void want(std::vector<WantedName> names, std::span<const std::string> groups) const;

  /// Makes all streams end because the controller shuts down.
  void end_soon() { ending_ = true; }
  bool ending() const { return ending_; }

  const Logger& log() const { return log_; }
  /// Logs what any client may cause: at most a few lines per second, with a count of the others.
  void log_refusal(const std::string& peer, const std::string& reason);

 private:
  /// Published to a group, and not yet processed.
  struct Pending {
    std::shared_ptr<const std::vector<std::byte>> program;
    ProgramVersion program_version;
    std::optional<program::ValueSet> values;
    std::uint64_t values_version = 0;
    bool lacks_secrets = false;

    bool has_something() const { return program != nullptr || values; }
  };

  struct Group {
    Pending pending{};
    Current current{};
    std::uint64_t values_version = 0;  ///< of the values that were last published
    bool entered = false;              ///< an agent of it has connected
  };

  Result<Membership> enter(Membership membership);
  std::string group_of(const Membership& membership) const;
  void loop();
  void do_changes(std::unique_lock<std::mutex>& lock);
  void take(const std::string& group, Pending pending);
  void leave_out_large(const std::string& group, program::ValueSet& values);
  void remember(const Group& group, const Publication& publication);
  void wake_all();
  void let_go_of_old();
  struct Replaced {
    std::string name;
    std::uint64_t before = 0;  ///< order
  };
  /// An outdated publication, one of the two kinds: slow streams still use it.
  struct Overtaken {
    std::weak_ptr<const Publication> program{};
    std::weak_ptr<const Values> values{};

    bool is_gone() const { return program.expired() && values.expired(); }
  };
  static std::size_t pinned_by(const Overtaken& overtaken, std::set<const void*>& counted);
  void end_streams(const Replaced& which, const Error& why);

  std::unique_ptr<Authority> authority_;
  AgentRegistry registry_;
  Questions questions_;
  LimitExchange limits_;
  const std::function<void(const AgentQuestion&, const TakeAnswer&)> own_pages_;
  const HistorySource history_;
  const std::function<void(std::vector<WantedName>)> wanted_;
  const ProgressSource progress_;
  const std::string group_label_;
  const std::function<void(const std::string&)> group_came_;
  const std::function<void(std::function<void(Status)>)> share_revoked_;
  const std::function<bool()> knows_revoked_;
  const std::string run_;
  const std::size_t most_pinned_;
  const std::string program_key_;
  const Logger log_;
  const std::function<WallTime()> clock_;
  std::atomic<bool> ending_ = false;

  mutable std::mutex mutex_;  ///< guards all that follows
  std::condition_variable work_;
  std::map<std::string, Group, std::less<>> groups_;
  std::set<std::string> pending_;            ///< groups with pending publications
  std::vector<std::string> groups_entered_;  ///< to be passed to the owner
  std::deque<Overtaken> overtaken_;          ///< oldest first; slow agents may pin them
  std::uint64_t oldest_sent_ = 0;
  std::deque<std::shared_ptr<const Outline>> outlines_;
  std::set<std::shared_ptr<Stream>> streams_;
  std::map<std::string, std::size_t> streams_of_;  ///< number of streams by agent
  std::uint64_t last_order_ = 0;
  std::vector<Replaced> replaced_;
  CurrentAddresses addresses_;
  CurrentLinks links_;
  bool addresses_changed_ = false;                            ///< the streams are to be told
  std::unordered_map<std::string, std::string> node_groups_;  ///< by node, of those that have the label
  std::unordered_map<std::string, Labels> node_labels_;       ///< by node, of those that have any
  bool nodes_changed_ = false;                                ///< the streams are to look at it
  bool changed_ = false;
  bool stopping_ = false;
  std::uint64_t version_ = 0;  ///< of the latest publication; versions of skipped ones are not used
  std::chrono::steady_clock::time_point refusals_from_{};
  unsigned refusals_ = 0;

  std::map<std::string, std::set<std::string>>
      large_;  ///< by group: secrets of which a value is not sent; of the thread

  std::mutex callback_mutex_;  ///< held while the callback runs
  std::function<void()> callback_;
  std::thread thread_;
};

}  // namespace edge::controller
