#include "runtime/shape/disk_thread.h"

namespace edge::runtime {

DiskThread::~DiskThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  more_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DiskThread::post(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  jobs_.push_back(std::move(job));
  more_.notify_one();
}

void DiskThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    more_.wait(lock, [this] { return ends_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    // What it held goes with it, before the lock is taken again.
    job = nullptr;
    lock.lock();
  }
}

}  // namespace edge::runtime
