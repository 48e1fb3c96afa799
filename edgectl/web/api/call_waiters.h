// The waiters of calls in progress, so that all of them can be ended when the server stops. For the loop's thread.
#pragma once

#include <set>
#include <vector>

#include "net/loop.h"

namespace edge::edgectl::web {

class CallWaiters {
 public:
  explicit CallWaiters(net::Loop& loop) : loop_(loop) {}
  CallWaiters(const CallWaiters&) = delete;
  CallWaiters& operator=(const CallWaiters&) = delete;

  net::Loop& loop() const { return loop_; }
  bool stopped() const { return stopped_; }
  /// Ends the waits in progress and all later ones.
  void stop() {
    stopped_ = true;
    // A waiter that is cancelled may end its call, and others with it.
    const std::vector<net::Waiter*> all(waiters_.begin(), waiters_.end());
    for (net::Waiter* one : all) {
      if (waiters_.contains(one)) one->cancel();
    }
  }

 private:
  friend class CallWaiter;
  net::Loop& loop_;
  std::set<net::Waiter*> waiters_;
  bool stopped_ = false;
};

class CallWaiter {
 public:
  explicit CallWaiter(CallWaiters& all) : all_(all), waiter_(all.loop_) {
    if (all.stopped_) waiter_.cancel();
    all_.waiters_.insert(&waiter_);
  }
  ~CallWaiter() { all_.waiters_.erase(&waiter_); }
  CallWaiter(const CallWaiter&) = delete;
  CallWaiter& operator=(const CallWaiter&) = delete;

  net::Waiter& operator*() { return waiter_; }

 private:
  CallWaiters& all_;
  net::Waiter waiter_;
};

}  // namespace edge::edgectl::web
