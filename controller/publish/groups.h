// Groups of agents: each has its program, its history and its rollback, in a directory of its own. An agent's group is
// the value of one of its labels (decision 0101), else `default`.
//
//   ReconcileResult -> Groups -> Publisher of each group -> Distributor
//
// A group is created when its first agent connects, or when its stored state is requested. `default` always exists, and
// is stored in the data directory itself, as before there were groups.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/publish/publisher.h"

namespace edge::controller {

/// Thread-safe once `open` has returned.
class Groups {
 public:
  /// The limit of agents' groups (Hub::kMaxGroups).
  static constexpr std::size_t kMostGroups = 64;

  /// `publish`: publishes to agents; called on the callers' threads.
  Groups(std::string data_dir, std::function<void(Published)> publish, Logger log)
      : data_dir_(std::move(data_dir)), publish_(std::move(publish)), log_(std::move(log)) {}
  ~Groups();
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  /// Opens `default`.
  Status open();
  /// Reads the state of the previous run for `default`, and for each group with a rollback. Publishes pinned programs.
  void restore();
  /// As Publisher::give_out_last, for every group.
  void give_out_last();
  void take(const ReconcileResult& result);
  /// Called when an agent of this group is connected.
  void came(const std::string& group);

  /// kNotFound: there is no such group.
  Result<std::vector<HistoryEntry>> list(const std::string& group);
  /// Pins a program, also one that another group ran.
  Status rollback(const std::string& group, const std::string& program);
  Status release(const std::string& group);
  std::shared_ptr<const std::vector<std::byte>> bytes(const std::string& program) const;
  /// Returns the number of a program; 0: none of this run.
  std::uint64_t number(const std::string& program) const;
  /// Returns the groups with a pinned program, by name.
  std::vector<PinnedGroup> pinned() const;

  // For `default`.
  bool has_program() const;
  bool last_listens() const;

 private:
  struct Group {
    Group(DataDir data, std::unique_ptr<History> history, const std::function<void(Published)>& publish,
          const Logger& log, const std::string& name);
    DataDir data;
    std::unique_ptr<History> history;
    Publisher publisher;  ///< declared after the members that it uses
  };
  using All = std::map<std::string, std::unique_ptr<Group>, std::less<>>;

  std::string directory(const std::string& group) const;
  Status open_locked(const std::string& group);
  Result<Group*> find_or_open(const std::string& group);
  /// Finds a group that is open or has stored state.
  Result<Group*> find(const std::string& group);
  Group& default_group() const { return *all_.find(kDefaultGroup)->second; }
  /// Groups are never removed: they may be used without the lock.
  std::vector<std::pair<std::string, Group*>> all() const;

  const std::string data_dir_;
  const std::function<void(Published)> publish_;
  const Logger log_;
  mutable std::mutex mutex_;  ///< guards all that follows
  All all_;
  std::optional<ReconcileResult> last_;  ///< of this run
  bool gave_out_last_ = false;
};

/// `agents to the program 5d2…`, `agents of the group canary to the program 5d2…`; empty: nothing is pinned.
std::string pinned_words(const std::vector<PinnedGroup>& pinned);

}  // namespace edge::controller
