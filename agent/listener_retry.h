// Schedules retries of listeners that cannot be bound: soon at first, then less and less often.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace edge::agent {

class ListenerRetry {
 public:
  /// Calls `recheck` on a thread of its own every 10 s, and sooner while it returns that listeners are unbound.
  explicit ListenerRetry(std::function<bool()> recheck);
  /// Stops the thread. Does not return while `recheck` runs.
  ~ListenerRetry();
  ListenerRetry(const ListenerRetry&) = delete;
  ListenerRetry& operator=(const ListenerRetry&) = delete;

  /// Resets the schedule: another listener could not be bound. Any thread.
  void soon();

 private:
  void run();

  const std::function<bool()> recheck_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool soon_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace edge::agent
