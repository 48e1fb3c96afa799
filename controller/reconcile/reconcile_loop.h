// The thread that the controller thinks on: gathers what changed, reconciles it, hands on what came of it.
//
//   edits -> [gather] -> ProgramBuilder -> published, judged
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
  bool held = false;  ///< from the start: see ReconcileLoop::hold
  /// An idle reconciler waits so long for what else belongs to a change: at most `gather`, and no longer than `quiet`
  /// after the last edit.
  std::chrono::nanoseconds gather = std::chrono::milliseconds(5);
  std::chrono::nanoseconds quiet = std::chrono::microseconds(500);
  /// So long something that is gone is still taken to be there. Each kind has a watch of its own, and watches keep no
  /// order among each other: of a backend that is renamed, the end of the old one may come before the edit of the route
  /// that let go of it, and requests in between would find no backend.
  std::chrono::nanoseconds farewell = std::chrono::milliseconds(20);
};

/// Called on the reconciler's thread, one at a time.
struct ReconcileEvents {
  /// Each result, changed or not; what changed is to be published before it returns.
  std::function<void(ReconcileResult)> reconciled;
  /// Edits that are in what was published last, after that.
  std::function<void(const std::vector<TakenObject>&)> taken;
  std::function<void(std::vector<DesiredStatus>)> statuses_changed;
  /// After a change of the sound versions that stand in for others.
  std::function<void(const SoundVersions&)> sound_versions;
};

class ReconcileLoop {
 public:
  ReconcileLoop(ReconcileOptions options, ReconcileEvents events);
  ~ReconcileLoop();
  ReconcileLoop(const ReconcileLoop&) = delete;
  ReconcileLoop& operator=(const ReconcileLoop&) = delete;

  /// Returns after the compile that is under way; nothing is told any more.
  void stop();
  /// From any thread.
  void edit(std::vector<ObjectEdit> edits);
  /// The state of the cluster is known whole: from now on programs are made. From any thread; more than once does
  /// nothing.
  void begin();
  /// Nothing is made of what comes until release(): all of it is then one program, with what is gone among it. From any
  /// thread; one at a time.
  void hold();
  void release();
  /// Whether nothing waits and nothing is under way, for tests; from any thread.
  bool idle() const;
  /// Changes that are in no batch yet; from any thread.
  std::size_t waiting() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Leaving {
    Clock::time_point due;
    ResourceId key;
  };

  void run();
  bool gather(std::vector<ObjectEdit>& batch, Clock::time_point& since);
  bool something() const;
  std::vector<ObjectEdit> take();
  void reconcile(std::vector<ObjectEdit> batch, Clock::time_point since);
  void note(const ObjectEdit& edit);
  void tell_taken();

  ReconcileOptions options_;
  ReconcileEvents events_;
  // Of the thread alone:
  ProgramBuilder program_builder_;
  std::map<ResourceId, TakenObject> taken_;  ///< in no program yet
  bool behind_ = false;                      ///< no program could be made of what came last
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<ObjectEdit> waiting_;
  Clock::time_point waiting_since_{};  ///< the first of them
  std::deque<Leaving> leaving_;        ///< by when they are due; those that are not in `gone_` are back
  std::set<ResourceId> gone_;
  bool begun_ = false;
  bool held_ = false;
  bool all_at_once_ = false;  ///< what is gone has waited long enough: the next batch is all there is
  bool first_ = true;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace edge::controller
