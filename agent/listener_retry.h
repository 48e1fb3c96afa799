// The clock by which listeners that cannot be opened are tried again: soon at first, then less and less often.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace edge::agent {

class ListenerRetry {
 public:
  /// `recheck` is called on a thread of its own, every 10 s, and sooner while it returns that there is something left.
  explicit ListenerRetry(std::function<bool()> recheck);
  /// Does not return while `recheck` runs.
  ~ListenerRetry();
  ListenerRetry(const ListenerRetry&) = delete;
  ListenerRetry& operator=(const ListenerRetry&) = delete;

  /// Something new could not be opened: it is tried again soon. From any thread.
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
