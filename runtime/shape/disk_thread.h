// A thread for file operations, so that a slow disk does not block event loops.
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
  /// Runs the posted jobs, then ends the thread.
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  /// Posts a job; jobs run one after the other, in order. Any thread. The first job starts the thread.
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
