// The controller's thread that batches changes, compiles them and passes on the results.
//
//   edits -> [gather] -> ProgramBuilder -> program, values, statuses
//
// At most one compile runs at a time, and the next one takes all changes that arrived meanwhile: under many changes
// there are fewer programs, not a queue.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "controller/reconcile/program_builder.h"
#include "controller/status/served_objects.h"

namespace edge::controller {

struct ReconcileOptions {
  compiler::CompileOptions compile;
  StatusBuilderOptions statuses;
  SoundVersions sound;
  NodeAddresses node_addresses = NodeAddresses::kAllowed;
  bool paused = false;  ///< as ReconcileLoop::pause, from the start
  /// When idle, the loop waits up to `gather` for further edits of a change, and no longer than `quiet` after the last
  /// one.
  std::chrono::nanoseconds gather = std::chrono::milliseconds(5);
  std::chrono::nanoseconds quiet = std::chrono::microseconds(500);
  /// How long a deleted object is still treated as present. Each kind has its own watch, without an order between
  /// watches: when a backend is renamed, its deletion may arrive before the edit of the route that refers to it, and
  /// requests in between would find no backend.
  std::chrono::nanoseconds farewell = std::chrono::milliseconds(20);
  /// The interval for checking certificate files, where there are any: not every file system reports changes.
  std::chrono::nanoseconds look = std::chrono::seconds(1);
};

/// Called on the loop's thread, one at a time.
struct ReconcileEvents {
  /// Receives each result, changed or not. Changes must be published before it returns.
  std::function<void(ReconcileResult)> reconciled;
  /// Receives the edits that are part of the last published result, after `reconciled`.
  std::function<void(const std::vector<TakenObject>&)> taken;
  std::function<void(std::vector<DesiredStatus>)> statuses_changed;
  /// Called after a change of the valid versions that replace invalid ones.
  std::function<void(const SoundVersions&)> sound_versions;
  /// Called on another thread while missing databases are made. May be empty.
  std::function<void(const compiler::DatabaseProgress&)> databases = {};
  /// Receives objects of which something is needed again that was not kept: they are to be edited as though they had
  /// changed. May be empty.
  std::function<void(std::vector<ResourceId>)> wanted{};
  /// Receives log messages about certificate files.
  std::function<void(std::vector<net::tls::CertificateFiles::Line>)> told_of_files{};
};

class ReconcileLoop {
 public:
  ReconcileLoop(ReconcileOptions options, ReconcileEvents events);
  ~ReconcileLoop();
  ReconcileLoop(const ReconcileLoop&) = delete;
  ReconcileLoop& operator=(const ReconcileLoop&) = delete;

  /// Stops the thread, after the compile that is running. No callback is called afterwards.
  void stop();
  /// Threads: any.
  void edit(std::vector<ObjectEdit> edits);
  /// Starts making programs: the state of the cluster is complete. Any thread; may be called again.
  void begin();
  /// Suspends compiling until resume(); all changes meanwhile, including deletions, then make one program. Any thread;
  /// one at a time.
  void pause();
  void resume();
  /// Returns whether no edit waits and no compile runs, for tests. Any thread.
  bool idle() const;
  /// Returns the number of changes that are not in a batch yet. Any thread.
  std::size_t waiting() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Leaving {
    Clock::time_point due;
    ResourceId key;
  };

  void run();
  compiler::CompileOptions compile_options();
  void bound_waiting(ClusterObject& map);
  void rest(std::unique_lock<std::mutex>& lock);
  bool gather(std::vector<ObjectEdit>& batch, Clock::time_point& since);
  bool something() const;
  std::vector<ObjectEdit> take();
  void look_at_files();
  void tell_of_files();
  void reconcile(std::vector<ObjectEdit> batch, Clock::time_point since);
  void report(std::optional<ReconcileResult> result, Clock::time_point began, Clock::time_point since);
  void note(const ObjectEdit& edit);
  void tell_taken();

  ReconcileOptions options_;
  ReconcileEvents events_;
  // Only for the loop's thread:
  std::map<ResourceId, TakenObject> taken_;  ///< not in a program yet
  bool behind_ = false;                      ///< no program could be made from the last changes
  Clock::time_point next_look_{};            ///< at certificate files
  bool files_changed_ = false;
  Clock::time_point idle_since_{};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<ObjectEdit> waiting_;
  Clock::time_point waiting_since_{};  ///< the first of them
  std::size_t waiting_maps_ = 0;       ///< bytes of ConfigMaps among them
  std::deque<Leaving> leaving_;        ///< ordered by due time; those not in `gone_` have reappeared
  std::set<ResourceId> gone_;
  bool begun_ = false;
  bool paused_ = false;
  bool all_at_once_ = false;  ///< deletions have waited long enough: the next batch has everything
  bool first_ = true;
  bool busy_ = false;
  bool stopping_ = false;
  bool databases_made_ = false;     ///< for the published program
  bool databases_awaited_ = false;  ///< the published program lacks some
  bool rested_ = false;             ///< memory was released since the last compile
  ProgramBuilder program_builder_;  ///< for the loop's thread only; destroyed before the members that its threads use
  std::thread thread_;
};

}  // namespace edge::controller
