// Publishes what agents run: the newest program, or the one that a rollback pinned, and with it the current endpoints
// and secrets. Each is published when it changes, without the other. Stores both on disk in the background, and knows
// the number of every program by its hash.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "controller/data_dir.h"
#include "controller/distribute/distributor.h"
#include "controller/publish/history.h"
#include "controller/reconcile/program_builder.h"

namespace edge::controller {

/// What is not yet on disk.
struct Unsaved {
  StoredProgram stored;
  bool values = false;   ///< of `stored`
  bool program = false;  ///< of `stored`
  // Of the program:
  bool lacks_databases = false;  ///< another with them follows, and stands in the history in its place
  std::string hash;
  Cause cause;
  WallTime at{};
};

/// Whether a program has listeners.
bool listens(const std::shared_ptr<const std::vector<std::byte>>& program);

class Publisher {
 public:
  /// `data` and `history` must outlive it. `publish`: to agents; from the caller's thread.
  Publisher(const DataDir& data, History& history, std::function<void(Published)> publish, Logger log);
  /// Writes what is not yet on disk, then ends.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Reads the state of the previous run. A pinned program is published at once.
  void restore();
  /// Publishes the last program of the previous run, unless there is a newer one. Not called at once: agents may run a
  /// later one than was stored before a crash, and must not fall back while the cluster is read.
  void give_out_last();
  /// Whether the last program of the previous run has listeners.
  bool last_listens() const;
  /// Publishes a result. Of one without a program only the values: the program before needs them.
  void take(const ReconcileResult& result);

  // From any thread.
  std::vector<HistoryEntry> list() const;
  Status rollback(const std::string& program);
  Status release();
  std::shared_ptr<const std::vector<std::byte>> bytes(const std::string& program) const;
  /// 0: none of this run.
  std::uint64_t number(const std::string& program) const;
  std::string pinned() const;
  bool has_program() const;

 private:
  /// Not on disk, of what is newest.
  struct Owed {
    bool values = false;
    bool program = false;
    std::string fault{};  ///< why
  };

  void publish_locked(bool program, bool values);
  program::ValueSet values_locked() const;
  void save_all();
  /// What could not be written is owed still. \returns whether nothing is.
  bool store(const StoredProgram& stored, Owed& owed) const;
  void remember(const Unsaved& program);

  const DataDir& data_;
  History& history_;
  std::function<void(Published)> publish_;
  Logger log_;
  /// Held while what is pinned changes, on disk and then here; before mutex_, which nobody holds during disk writes.
  std::mutex pinning_mutex_;
  mutable std::mutex mutex_;
  StoredProgram newest_;
  std::string newest_hash_;
  bool fresh_ = false;  ///< newest_ is of this run
  std::optional<PastProgram> pinned_;
  std::string pinned_hash_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::mutex saving_mutex_;
  std::condition_variable wake_;
  std::optional<Unsaved> unsaved_;
  bool stopping_ = false;
  std::thread saver_;
};

}  // namespace edge::controller
