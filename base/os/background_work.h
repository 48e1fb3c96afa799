// One piece of work beside another.
#pragma once

#include <functional>
#include <system_error>
#include <thread>
#include <utility>

namespace edge {

/// Does `work` on a thread of its own, while its owner does something else. Where no thread is to be had it takes
/// longer, and nothing else changes: the owner does it, when it waits for it.
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

  /// Until it is done.
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
