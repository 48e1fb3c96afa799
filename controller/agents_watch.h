// The controller's thread that looks at agents and other clusters after they changed, and passes on what it sees. It
// also gives a cluster some time to say what to serve, after which the last run's program is published.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace edge::controller {

/// Called on the thread, one at a time, without a lock held.
struct AgentsWatchEvents {
  /// Changes were gathered. `groups_came`: that have their first agent. \returns whether there was something to see,
  /// which takes time.
  std::function<bool(const std::vector<std::string>& groups_came)> look;
  /// Some seconds after the start. Once.
  std::function<void()> patience_over;
};

/// `changed` and `group_came` may be called before `start`, from any thread.
class AgentsWatch {
 public:
  explicit AgentsWatch(AgentsWatchEvents events) : events_(std::move(events)) {}
  ~AgentsWatch() { stop(); }
  AgentsWatch(const AgentsWatch&) = delete;
  AgentsWatch& operator=(const AgentsWatch&) = delete;

  void start();
  /// Waits for a look that is under way.
  void stop();

  void changed();
  void group_came(const std::string& group);

 private:
  void run();

  const AgentsWatchEvents events_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_;
  bool changed_ = false;
  std::vector<std::string> groups_came_;
  bool stopping_ = false;
  std::thread thread_;  ///< of the thread that starts and stops
};

}  // namespace edge::controller
