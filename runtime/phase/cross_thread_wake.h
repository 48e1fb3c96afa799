// A wake-up from another thread: posted to the waiter's loop, and ignored once the wait is over.
#pragma once

#include <functional>
#include <memory>

#include "net/loop.h"

namespace edge::runtime {

/// For the waiter's thread; declared next to the wait.
class CrossThreadWake {
 public:
  CrossThreadWake(net::Waiter& waiter, net::Loop& loop)
      : waiter_(std::make_shared<net::Waiter*>(&waiter)), loop_(loop) {}
  CrossThreadWake(const CrossThreadWake&) = delete;
  CrossThreadWake& operator=(const CrossThreadWake&) = delete;
  ~CrossThreadWake() { *waiter_ = nullptr; }

  /// Returns the callback: any thread, as long as the loop exists.
  std::function<void()> callback() const {
    return [waiter = waiter_, &loop = loop_] {
      loop.post([waiter] {
        if (*waiter != nullptr) (*waiter)->wake(net::Wake::kReady);
      });
    };
  }

 private:
  std::shared_ptr<net::Waiter*> waiter_;
  net::Loop& loop_;
};

}  // namespace edge::runtime
