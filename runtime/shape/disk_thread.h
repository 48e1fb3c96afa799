// Work with files, on a thread of its own: a disk that makes its users wait makes no loop wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace edge::runtime {

class DiskThread {
 public:
  DiskThread() = default;
  /// Does what was posted, then ends.
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  /// Jobs are done one after the other, in their order. From any thread. The first starts the thread.
  void post(std::function<void()> job);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> jobs_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace edge::runtime
