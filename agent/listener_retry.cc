#include "agent/listener_retry.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace edge::agent {
namespace {

constexpr auto kFirstRetry = std::chrono::milliseconds(100);
/// Also how soon is told that an address has come, or has gone.
constexpr auto kLongestRetry = std::chrono::milliseconds(10'000);

}  // namespace

ListenerRetry::ListenerRetry(std::function<bool()> recheck) : recheck_(std::move(recheck)) {
  thread_ = std::thread([this] { run(); });
}

ListenerRetry::~ListenerRetry() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ListenerRetry::soon() {
  {
    const std::lock_guard lock(mutex_);
    soon_ = true;
  }
  changed_.notify_all();
}

void ListenerRetry::run() {
  auto pause = kLongestRetry;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_for(lock, pause, [this] { return stopping_ || soon_; });
    if (stopping_) return;
    if (std::exchange(soon_, false)) {
      pause = kFirstRetry;
      continue;
    }
    lock.unlock();
    const bool left = recheck_();
    lock.lock();
    pause = left ? std::min(pause * 2, kLongestRetry) : kLongestRetry;
  }
}

}  // namespace edge::agent
