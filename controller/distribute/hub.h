// Where the streams of all agents meet: what is published, who is told of it, and who may speak at all.
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
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/labels.h"
#include "base/log.h"
#include "controller/authority/authority.h"
#include "controller/distribute/agent_registry.h"
#include "controller/distribute/distributor.h"
#include "controller/distribute/publication.h"
#include "controller/distribute/questions.h"
#include "controller/distribute/virtual_addresses.h"

namespace edge::controller {

/// One stream of one agent. `wake` and `end` are called without a lock held, from any thread.
class Stream {
 public:
  explicit Stream(CertificateFacts peer) : peer_(std::move(peer)) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Something may be there to be sent, or time has passed.
  virtual void wake() = 0;
  virtual void end(const Error& why) = 0;

  const CertificateFacts& peer() const { return peer_; }
  const std::string& name() const { return peer_.subject.name; }
  /// Of two streams the one that came later has the larger number.
  std::uint64_t order() const { return order_; }

 private:
  friend class Hub;
  CertificateFacts peer_;
  std::uint64_t order_ = 0;
};

/// Every function may be called from any thread.
class Hub {
 public:
  /// Programs of which the table is remembered: an agent that comes back with one of them is sent the difference.
  static constexpr std::size_t kRememberedOutlines = 8;
  /// In one run of the controller; agents of more are refused.
  static constexpr std::size_t kMaxGroups = 64;
  /// Five streams an agent.
  static constexpr std::size_t kMaxStreams = 5 * AgentRegistry::kMaxAgents;
  /// Of one agent, some of which may be those of a session before. It cannot take the place of others.
  static constexpr std::size_t kMaxStreamsOfOne = 30;
  /// A stream on which nothing moved for so long is ended: whoever is at its other end has to come anew.
  static constexpr auto kPatience = std::chrono::seconds(60);

  Hub(const DistributorOptions& options, std::unique_ptr<Authority> authority);
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  Authority& authority() { return *authority_; }
  const Authority& authority() const { return *authority_; }
  AgentRegistry& registry() { return registry_; }
  Questions& questions() { return questions_; }
  const std::function<AgentAnswer(const AgentQuestion&)>& own_pages() const { return own_pages_; }
  const HistorySource& history() const { return history_; }
  const ProgressSource& progress() const { return progress_; }
  /// Of this process: tells its numbers from those of another.
  const std::string& run() const { return run_; }
  const std::string& program_key() const { return program_key_; }
  WallTime now() const;

  /// What is to be sent. Either both are there or none.
  struct Current {
    std::shared_ptr<const Publication> program;
    std::shared_ptr<const Values> values;
  };

  void publish(Published published);
  /// Versions of the values that were published last, on their way or not.
  struct Announced {
    std::uint64_t newest = 0;
    std::map<std::string, std::uint64_t, std::less<>> by_group;
  };
  Announced announced() const;
  /// By what an agent is in its group.
  struct Membership {
    std::string label{};  ///< its own; empty: that of its node counts
    std::string node{};
    std::string group{};
  };
  /// The group of an agent, which is there from now on. kResourceExhausted: there are too many.
  Result<Membership> enter_group(const AgentState& agent);
  /// What the label of a node is from now on; empty: it has none. Agents whose group is another by it come anew.
  void set_node_group(const std::string& node, std::string group);
  /// Whether the group is another than when it was entered.
  bool is_moved(const Membership& membership) const;
  /// What was published before this version is sent to nobody any more.
  std::uint64_t oldest_sent() const;
  Current current(std::string_view group) const;
  /// Of a program that was published lately; null: none is known.
  std::shared_ptr<const Outline> outline(std::string_view hash) const;

  void publish_addresses(std::shared_ptr<const VirtualAddresses> addresses);
  CurrentAddresses current_addresses() const;
  /// Of what it returns, the two versions: addresses of many agents are copied only when they are others.
  std::pair<std::uint64_t, std::uint64_t> address_versions() const;
  /// What the labels of a node are from now on, of those that node selectors of addresses name.
  void set_node_labels(const std::string& node, Labels labels);
  Labels node_labels(const std::string& node) const;
  /// Where an agent hears the others. It stays as long as this process, whether the agent does or not.
  void note_member(const std::string& name, const std::string& address);

  /// False: there are too many, or too many of this agent.
  bool add(std::shared_ptr<Stream> stream);
  void remove(const Stream& stream);
  /// Another process has this agent's name: the streams of the one before end, soon and on another thread.
  void end_older(const Stream& stream);
  /// Ends every stream of an agent, too.
  Status revoke(const std::string& name);

  /// An agent's state changed: the owner is told soon, once for many.
  void changed();
  void on_change(std::function<void()> callback);

  /// Streams end from now on because the controller does.
  void end_soon() { ending_ = true; }
  bool ending() const { return ending_; }

  const Logger& log() const { return log_; }
  /// Of what anybody may bring about: at most a few lines a second, with a count of the others.
  void log_refusal(const std::string& peer, const std::string& reason);

 private:
  /// Published to a group, and not yet looked at.
  struct Pending {
    std::shared_ptr<const std::vector<std::byte>> program;
    ProgramVersion program_version;
    std::optional<program::ValueSet> values;
    std::uint64_t values_version = 0;

    bool has_something() const { return program != nullptr || values; }
  };

  struct Group {
    Pending pending{};
    Current current{};
    std::uint64_t values_version = 0;  ///< of the values that were published last
    bool entered = false;              ///< an agent of it has come
  };

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
  /// What was published before, one of the two: streams that are slow hold it.
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
  const std::function<AgentAnswer(const AgentQuestion&)> own_pages_;
  const HistorySource history_;
  const ProgressSource progress_;
  const std::string group_label_;
  const std::function<void(const std::string&)> group_came_;
  const std::string run_;
  const std::size_t most_pinned_;
  const std::string program_key_;
  const Logger log_;
  const std::function<WallTime()> clock_;
  std::atomic<bool> ending_ = false;

  mutable std::mutex mutex_;  ///< guards what follows
  std::condition_variable work_;
  std::map<std::string, Group, std::less<>> groups_;
  std::set<std::string> pending_;            ///< groups with something pending
  std::vector<std::string> groups_entered_;  ///< the owner is to be told of
  std::deque<Overtaken> overtaken_;          ///< oldest first; slow agents may pin them
  std::uint64_t oldest_sent_ = 0;
  std::deque<std::shared_ptr<const Outline>> outlines_;
  std::set<std::shared_ptr<Stream>> streams_;
  std::map<std::string, std::size_t> streams_of_;  ///< how many, by agent
  std::uint64_t last_order_ = 0;
  std::vector<Replaced> replaced_;
  CurrentAddresses addresses_;
  bool addresses_changed_ = false;                            ///< the streams are to be told
  std::unordered_map<std::string, std::string> node_groups_;  ///< by node, of those that have the label
  std::unordered_map<std::string, Labels> node_labels_;       ///< by node, of those that have any
  bool nodes_changed_ = false;                                ///< the streams are to look at it
  bool changed_ = false;
  bool stopping_ = false;
  std::uint64_t version_ = 0;  ///< of what was published last; those of what was overtaken are left out
  std::chrono::steady_clock::time_point refusals_from_{};
  unsigned refusals_ = 0;

  std::map<std::string, std::set<std::string>>
      large_;  ///< by group: secrets of which a value is not sent; of the thread

  std::mutex callback_mutex_;  ///< held while the callback runs
  std::function<void()> callback_;
  std::thread thread_;
};

}  // namespace edge::controller
