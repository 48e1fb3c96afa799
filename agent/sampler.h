// The clock of what an agent notices by itself: every second how backends, certificates and listeners are, every five
// the figures of the last hour; and when listeners that cannot be bound are tried again, soon at first, then less and
// less often.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace edge::agent {

/// All are called on a thread of the sampler's.
struct SamplerTasks {
  /// Called less often where it takes more than a hundredth of the time.
  std::function<void()> look;
  std::function<void()> record;
  /// Called every 10 s, and sooner while it returns that listeners are left.
  std::function<bool()> recheck;
};

class Sampler {
 public:
  explicit Sampler(SamplerTasks tasks);
  /// Does not return while one of the tasks runs.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// A further listener could not be bound: begins anew with short pauses. From any thread.
  void recheck_soon();

 private:
  using Clock = std::chrono::steady_clock;
  void run();
  void look(Clock::time_point began);
  void recheck();

  const SamplerTasks tasks_;
  // Of the thread.
  Clock::time_point next_look_;
  Clock::time_point next_record_;
  Clock::time_point next_recheck_;
  Clock::duration pause_;  ///< before the recheck that comes

  std::mutex mutex_;
  std::condition_variable changed_;
  bool soon_ = false;      ///< guarded by mutex_
  bool stopping_ = false;  ///< likewise
  std::thread thread_;
};

}  // namespace edge::agent
