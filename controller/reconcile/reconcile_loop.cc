#include "controller/reconcile/reconcile_loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/os/idle_memory.h"

namespace edge::controller {
namespace {

/// Resources judged between two looks for what is new: a few milliseconds' worth.
constexpr std::size_t kStatusesAtOnce = 256;
/// Longer than between the edits of a person who tries something.
constexpr auto kRestsAfter = std::chrono::seconds(2);

}  // namespace

ReconcileLoop::ReconcileLoop(ReconcileOptions options, ReconcileEvents events)
    : options_(std::move(options)),
      events_(std::move(events)),
      paused_(options_.paused),
      program_builder_(compile_options(), options_.statuses, std::move(options_.sound), options_.node_addresses),
      thread_([this] { run(); }) {}

ReconcileLoop::~ReconcileLoop() { stop(); }

/// Those given, and the loop is woken once databases are there.
compiler::CompileOptions ReconcileLoop::compile_options() {
  compiler::CompileOptions compile = options_.compile;
  compile.databases_progressed = [this](const compiler::DatabaseProgress& progress) {
    if (events_.databases) events_.databases(progress);
    if (!progress.ended) return;
    {
      const std::lock_guard lock(mutex_);
      databases_made_ = true;
    }
    wake_.notify_all();
  };
  return compile;
}

void ReconcileLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ReconcileLoop::edit(std::vector<ObjectEdit> edits) {
  {
    const std::lock_guard lock(mutex_);
    const auto due = Clock::now() + options_.farewell;
    for (ObjectEdit& edit : edits) {
      if (edit.object) {
        if (edit.key.kind == "ConfigMap") bound_waiting(*edit.object);
        gone_.erase(edit.key);
        if (waiting_.empty()) waiting_since_ = Clock::now();
        waiting_.push_back(std::move(edit));
      } else if (gone_.insert(edit.key).second) {
        leaving_.push_back({due, std::move(edit.key)});
      }
    }
  }
  wake_.notify_all();
}

/// Under the mutex. The first program waits for everything that the cluster has.
void ReconcileLoop::bound_waiting(ClusterObject& map) {
  if (waiting_maps_ + map.document.size() > kMostKeptValues) drop_values(map);
  waiting_maps_ += map.document.size();
}

void ReconcileLoop::begin() {
  {
    const std::lock_guard lock(mutex_);
    begun_ = true;
  }
  wake_.notify_all();
}

void ReconcileLoop::pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
}

void ReconcileLoop::resume() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(paused_, false)) return;
    all_at_once_ = !waiting_.empty() || !leaving_.empty();
  }
  wake_.notify_all();
}

bool ReconcileLoop::idle() const {
  const std::lock_guard lock(mutex_);
  return !busy_ && waiting_.empty() && leaving_.empty() && !(begun_ && first_) && !databases_awaited_;
}

std::size_t ReconcileLoop::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + gone_.size();
}

/// Whether there is something to compile. Under the mutex.
bool ReconcileLoop::something() const {
  if (!begun_ || paused_) return false;
  return first_ || all_at_once_ || databases_made_ || files_changed_ || !waiting_.empty() ||
         (!leaving_.empty() && leaving_.front().due <= Clock::now());
}

/// Everything whose time has come. Under the mutex.
std::vector<ObjectEdit> ReconcileLoop::take() {
  std::vector<ObjectEdit> batch = std::exchange(waiting_, {});
  waiting_maps_ = 0;
  const auto now = Clock::now();
  const bool all = first_ || std::exchange(all_at_once_, false);
  for (; !leaving_.empty() && (all || leaving_.front().due <= now); leaving_.pop_front()) {
    if (gone_.erase(leaving_.front().key) != 0) batch.push_back({std::move(leaving_.front().key), std::nullopt});
  }
  first_ = false;
  files_changed_ = false;
  return batch;
}

/// \returns false at the end. An empty batch: nothing is new, and there is time to judge. `since`: when the first of
/// the batch came; what is gone waits on purpose, and counts from when its time has come.
bool ReconcileLoop::gather(std::vector<ObjectEdit>& batch, Clock::time_point& since) {
  std::unique_lock lock(mutex_);
  busy_ = false;
  idle_since_ = Clock::now();
  const bool idle = program_builder_.statuses_complete();
  // What was there may be held before the wait for the rest of it is over.
  for (bool again = idle; again && !stopping_; again = !something()) {
    while (!stopping_ && !something()) {
      if (begun_ && !paused_ && !leaving_.empty()) {
        wake_.wait_until(lock, leaving_.front().due);
      } else {
        rest(lock);
      }
    }
    // A change seldom comes alone: a route with its backend, a Service with its endpoints.
    const auto end = Clock::now() + options_.gather;
    for (std::size_t seen = 0; !stopping_ && seen != waiting_.size();) {
      seen = waiting_.size();
      const auto until = std::min(end, Clock::now() + options_.quiet);
      wake_.wait_until(lock, until, [&] { return stopping_ || waiting_.size() != seen; });
    }
  }
  if (stopping_) return false;
  busy_ = true;
  rested_ = false;
  if (something()) {
    since = waiting_.empty() ? Clock::now() : waiting_since_;
    if (!leaving_.empty()) since = std::min(since, leaving_.front().due);
    batch = take();
  }
  return true;
}

/// Until there may be something to do. What compiling took is given back once nothing has come for a while.
void ReconcileLoop::rest(std::unique_lock<std::mutex>& lock) {
  const bool gives_back = !rested_ && !first_;
  const bool looks = program_builder_.follows_files();
  if (!gives_back && !looks) return wake_.wait(lock);
  const Clock::time_point back = idle_since_ + kRestsAfter;
  if (wake_.wait_until(lock, !gives_back ? next_look_
                             : !looks    ? back
                                         : std::min(back, next_look_)) != std::cv_status::timeout) {
    return;
  }
  lock.unlock();
  if (gives_back && Clock::now() >= back) {
    release_idle_memory();
    rested_ = true;
  }
  if (looks) look_at_files();
  lock.lock();
}

/// Where it is time for it.
void ReconcileLoop::look_at_files() {
  const auto now = Clock::now();
  if (now < next_look_ || !program_builder_.follows_files()) return;
  next_look_ = now + options_.look;
  files_changed_ |= program_builder_.look_at_files();
  tell_of_files();
}

void ReconcileLoop::tell_of_files() {
  auto lines = program_builder_.take_lines();
  if (!lines.empty() && events_.told_of_files) events_.told_of_files(std::move(lines));
}

void ReconcileLoop::run() {
  std::vector<ObjectEdit> batch;
  Clock::time_point since{};
  while (gather(batch, since)) {
    reconcile(std::exchange(batch, {}), since);
    std::vector<DesiredStatus> desired_statuses = program_builder_.build_statuses(kStatusesAtOnce);
    if (!desired_statuses.empty()) events_.statuses_changed(std::move(desired_statuses));
  }
}

/// Of each object the last version, and of those alone that are asked for: it may be long until a program is made.
void ReconcileLoop::note(const ObjectEdit& edit) {
  if (!has_status(edit.key.kind) || (edit.object && edit.object->only_compiled)) return;
  TakenObject& taken = taken_[edit.key];
  taken = {.key = edit.key, .gone = !edit.object};
  if (!edit.object) return;
  taken.uid = edit.object->uid;
  taken.resource_version = edit.object->resource_version;
  taken.generation = edit.object->generation;
}

/// They are in what was published last.
void ReconcileLoop::tell_taken() {
  std::vector<TakenObject> taken;
  taken.reserve(taken_.size());
  for (auto& [key, object] : taken_) taken.push_back(std::move(object));
  taken_.clear();
  if (events_.taken) events_.taken(taken);
}

void ReconcileLoop::reconcile(std::vector<ObjectEdit> batch, Clock::time_point since) {
  for (const ObjectEdit& edit : batch) note(edit);
  look_at_files();
  bool databases_made = false;
  {
    const std::lock_guard lock(mutex_);
    databases_made = std::exchange(databases_made_, false);
  }
  const auto began = Clock::now();
  auto result = program_builder_.apply(std::move(batch));
  files_changed_ = false;
  const bool completes = databases_made && !(result && result->runs > 0);
  if (!completes || result) report(std::move(result), began, since);
  if (completes) report(program_builder_.add_databases(), began, since);
  auto wanted = program_builder_.take_wanted();
  if (!wanted.empty() && events_.wanted) events_.wanted(std::move(wanted));
}

void ReconcileLoop::report(std::optional<ReconcileResult> result, Clock::time_point began, Clock::time_point since) {
  if (result) {
    result->waited = began - since;
    result->took = Clock::now() - began;
    const std::lock_guard lock(mutex_);
    databases_awaited_ = result->program != nullptr && result->lacks_databases;
  }
  // Where nothing was to be made, what could not be made before is in no program still.
  if (result && result->runs > 0) behind_ = result->program == nullptr;
  const bool sound_versions = result && result->sound_versions_changed;
  if (result) events_.reconciled(*std::move(result));
  tell_of_files();
  if (!behind_) tell_taken();
  if (sound_versions) events_.sound_versions(program_builder_.sound_versions());
}

}  // namespace edge::controller
