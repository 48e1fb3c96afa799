// Runs a function on a thread of its own.
#pragma once

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

namespace edge {

/// Runs `work` on a new thread while the owner continues. If no thread can be started, wait() runs it instead.
class BackgroundWork {
 public:
  explicit BackgroundWork(std::function<void()> work) : work_(std::move(work)) {
    try {
      thread_ = std::thread(std::ref(work_));
      work_left_ = false;
    } catch (const std::system_error&) {
      work_left_ = true;
    }
  }
  ~BackgroundWork() { wait(); }
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// Blocks until the work is done.
  void wait() {
    if (thread_.joinable()) thread_.join();
    if (std::exchange(work_left_, false)) work_();
  }

 private:
  std::function<void()> work_;
  std::thread thread_;
  bool work_left_ = false;
};

}  // namespace edge
