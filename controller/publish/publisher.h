// Publishes what agents run: the newest program, or the one pinned by a rollback, with the current endpoints and
// secrets. Each is published when it changes, without the other. Stores both on disk in the background, and keeps the
// number of every program by its hash.
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

/// State that is not on disk yet.
struct Unsaved {
  StoredProgram stored;
  bool values = false;   ///< of `stored`
  bool program = false;  ///< of `stored`
  // For the program:
  bool lacks_databases = false;  ///< a program with the databases follows, and replaces it in the history
  std::string hash;
  Cause cause;
  WallTime at{};
};

/// Whether a program has listeners.
bool listens(const std::shared_ptr<const std::vector<std::byte>>& program);

class Publisher {
 public:
  /// `data` and `history` must outlive this object. `publish`: publishes to agents; called on the caller's thread.
  Publisher(const DataDir& data, History& history, std::function<void(Published)> publish, Logger log);
  /// Writes the unsaved state, then ends.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Reads the state of the previous run. Publishes a pinned program at once.
  void restore();
  /// Publishes the last program of the previous run, unless there is a newer one. Not called at once: agents may run a
  /// later one than was stored before a crash, and must not go back while the cluster is read.
  void give_out_last();
  /// Whether the last program of the previous run has listeners.
  bool last_listens() const;
  /// Publishes a result; of one without a program only the values: the previous program needs them.
  void take(const ReconcileResult& result);

  // Threads: any.
  std::vector<HistoryEntry> list() const;
  Status rollback(const std::string& program);
  Status release();
  std::shared_ptr<const std::vector<std::byte>> bytes(const std::string& program) const;
  /// Returns the number of a program; 0: none of this run.
  std::uint64_t number(const std::string& program) const;
  std::string pinned() const;
  bool has_program() const;

 private:
  /// Unsaved parts of the newest state.
  struct Owed {
    bool values = false;
    bool program = false;
    std::string fault{};  ///< the reason of the last failure
  };

  void publish_locked(bool program, bool values);
  program::ValueSet values_locked() const;
  void save_all();
  /// Keeps in `owed` what could not be written. \returns whether all was written.
  bool store(const StoredProgram& stored, Owed& owed) const;
  void remember(const Unsaved& program);

  const DataDir& data_;
  History& history_;
  std::function<void(Published)> publish_;
  Logger log_;
  /// Held while the pinned program changes, on disk and then in memory; locked before mutex_, which is never held
  /// during disk writes.
  std::mutex pinning_mutex_;
  mutable std::mutex mutex_;
  StoredProgram newest_;
  std::string newest_hash_;
  bool fresh_ = false;  ///< newest_ is from this run
  std::optional<PastProgram> pinned_;
  std::string pinned_hash_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::mutex saving_mutex_;
  std::condition_variable wake_;
  std::optional<Unsaved> unsaved_;
  bool stopping_ = false;
  bool saving_ = false;  ///< `saver_` works, or waits for more
  std::thread saver_;
};

}  // namespace edge::controller
