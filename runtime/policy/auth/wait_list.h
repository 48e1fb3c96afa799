// Tasks on several threads that wait for one event, each on its own loop.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "net/loop.h"

namespace edge::runtime::auth {

/// Threads: any. To wait:
///
///     const auto place = list.enter(loop, waiter);   // then check whether the event has happened meanwhile
///     if (place) {
///       const Wake why = co_await waiter.wait(until);
///       list.leave(place);
///     }
class WaitList {
 public:
  struct Entry;

  explicit WaitList(std::size_t most) : most_(most) {}
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  /// Adds a waiting task. Null: too many wait.
  std::shared_ptr<Entry> enter(net::Loop& loop, net::Waiter& waiter);
  /// Removes the task; on the thread that entered, also after being woken. No wake-up follows.
  void leave(const std::shared_ptr<Entry>& entry);
  bool empty();
  /// Wakes and removes all tasks, each on its own thread.
  void wake_all();

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_;
};

}  // namespace edge::runtime::auth
