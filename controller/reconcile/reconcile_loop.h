// The thread of the controller that batches changes, compiles them and hands on the results.
//
//   edits -> [gather] -> ProgramBuilder -> program, values, statuses
//
// Never more than one compile is under way, and the next one takes everything that came meanwhile: under a storm of
// changes there are fewer programs, not a queue.
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
  bool paused = false;  ///< from the start: see ReconcileLoop::pause
  /// When idle, the loop waits up to `gather` for further edits of a change, and no longer than `quiet` after the last
  /// one.
  std::chrono::nanoseconds gather = std::chrono::milliseconds(5);
  std::chrono::nanoseconds quiet = std::chrono::microseconds(500);
  /// How long a deleted object is still treated as present. Each kind has a watch of its own, and watches keep no order
  /// among each other: of a backend that is renamed, the deletion may arrive before the edit of the route that refers
  /// to it, and requests in between would find no backend.
  std::chrono::nanoseconds farewell = std::chrono::milliseconds(20);
  /// How often files of certificates are looked at, where there are any: not each file system tells of changes.
  std::chrono::nanoseconds look = std::chrono::seconds(1);
};

/// Called on the thread of the loop, one at a time.
struct ReconcileEvents {
  /// Receives each result, changed or not. What changed must be published before it returns.
  std::function<void(ReconcileResult)> reconciled;
  /// Receives the edits that are part of the last published result, after `reconciled`.
  std::function<void(const std::vector<TakenObject>&)> taken;
  std::function<void(std::vector<DesiredStatus>)> statuses_changed;
  /// Called after a change of the valid versions that stand in for invalid ones.
  std::function<void(const SoundVersions&)> sound_versions;
  /// Called on another thread while databases are made that the published program lacks. May be empty.
  std::function<void(const compiler::DatabaseProgress&)> databases = {};
  /// Receives what is to be told of files of certificates.
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
  /// From any thread.
  void edit(std::vector<ObjectEdit> edits);
  /// Starts making programs: the state of the cluster is complete. From any thread; may be called again.
  void begin();
  /// Suspends compiles until resume(); everything that came meanwhile, with deletions, is then one program. From any
  /// thread; one at a time.
  void pause();
  void resume();
  /// Whether no edit waits and no compile runs, for tests. From any thread.
  bool idle() const;
  /// Number of changes that are in no batch yet. From any thread.
  std::size_t waiting() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Leaving {
    Clock::time_point due;
    ResourceId key;
  };

  void run();
  compiler::CompileOptions compile_options();
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
  // Of the thread alone:
  std::map<ResourceId, TakenObject> taken_;  ///< in no program yet
  bool behind_ = false;                      ///< no program could be made of what came last
  Clock::time_point next_look_{};            ///< at files of certificates
  bool files_changed_ = false;
  Clock::time_point idle_since_{};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<ObjectEdit> waiting_;
  Clock::time_point waiting_since_{};  ///< the first of them
  std::deque<Leaving> leaving_;        ///< by when they are due; those that are not in `gone_` are back
  std::set<ResourceId> gone_;
  bool begun_ = false;
  bool paused_ = false;
  bool all_at_once_ = false;  ///< what is gone has waited long enough: the next batch is all there is
  bool first_ = true;
  bool busy_ = false;
  bool stopping_ = false;
  bool databases_made_ = false;     ///< that the published program lacks
  bool databases_awaited_ = false;  ///< it lacks some
  bool rested_ = false;             ///< memory was given back since something was compiled last
  ProgramBuilder program_builder_;  ///< of the thread alone; goes before what its own threads call
  std::thread thread_;
};

}  // namespace edge::controller
