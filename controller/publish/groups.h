// Groups of agents: each has its program, its history and its rollback, kept in a folder of its own. An agent is in the
// group that one of its labels names (decision 0101), else in `default`.
//
//   ReconcileResult -> Groups -> Publisher of each group -> Distributor
//
// A group is there from when its first agent comes, or somebody asks for what is kept of it. `default` always is, and
// lies where all there was lay before there were groups: in the data directory itself.
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

/// Every function may be called from any thread, once `open` has returned.
class Groups {
 public:
  /// As many as agents may be in (Hub::kMaxGroups).
  static constexpr std::size_t kMostGroups = 64;

  /// `publish`: to agents; from the threads of callers.
  Groups(std::string data_dir, std::function<void(Published)> publish, Logger log)
      : data_dir_(std::move(data_dir)), publish_(std::move(publish)), log_(std::move(log)) {}
  ~Groups();
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  /// `default`.
  Status open();
  /// Reads what the run before left of `default`, and of each group that a rollback holds. What it pinned is published.
  void restore();
  /// As Publisher::give_out_last, of every group.
  void give_out_last();
  void take(const ReconcileResult& result);
  /// An agent of this group is there.
  void came(const std::string& group);

  /// kNotFound: there is no such group.
  Result<std::vector<HistoryEntry>> list(const std::string& group);
  /// A program that another group ran may be taken, too.
  Status rollback(const std::string& group, const std::string& program);
  Status release(const std::string& group);
  std::shared_ptr<const std::vector<std::byte>> bytes(const std::string& program) const;
  /// 0: none of this run.
  std::uint64_t number(const std::string& program) const;
  /// Those that a rollback holds, by name.
  std::vector<PinnedGroup> pinned() const;

  // Of `default`.
  bool has_program() const;
  bool last_listens() const;

 private:
  struct Group {
    Group(DataDir data, std::unique_ptr<History> history, const std::function<void(Published)>& publish,
          const Logger& log, const std::string& name);
    DataDir data;
    std::unique_ptr<History> history;
    Publisher publisher;  ///< after what it keeps its programs in
  };
  using All = std::map<std::string, std::unique_ptr<Group>, std::less<>>;

  std::string directory(const std::string& group) const;
  Status open_locked(const std::string& group);
  Result<Group*> find_or_open(const std::string& group);
  /// That is open, or that something is kept of.
  Result<Group*> find(const std::string& group);
  Group& default_group() const { return *all_.find(kDefaultGroup)->second; }
  /// None leaves: they may be used without the lock.
  std::vector<std::pair<std::string, Group*>> all() const;

  const std::string data_dir_;
  const std::function<void(Published)> publish_;
  const Logger log_;
  mutable std::mutex mutex_;  ///< guards what follows
  All all_;
  std::optional<ReconcileResult> last_;  ///< of this run
  bool gave_out_last_ = false;
};

/// `agents to the program 5d2…`, `agents of the group canary to the program 5d2…`; empty: nothing is pinned.
std::string pinned_words(const std::vector<PinnedGroup>& pinned);

}  // namespace edge::controller
