// Gives a Lease back at the end of a process, and waits no longer than its bound for a server that does not answer.
#pragma once

#include <functional>

#include "controller/kube/elector.h"
#include "net/loop.h"

namespace edge::kube {

/// For the elector's loop, on which it must stay until it is not under way any more.
class Farewell {
 public:
  Farewell(net::Loop& loop, net::Duration most) : loop_(loop), most_(most), limit_(loop) {}
  Farewell(const Farewell&) = delete;
  Farewell& operator=(const Farewell&) = delete;

  /// `elector` null: there is nothing to give back, and `done` is not called. Else `done` is called once, perhaps
  /// before this returns.
  void begin(Elector* elector, std::function<void()> done);
  bool under_way() const { return under_way_; }

 private:
  net::Detached run(Elector& elector);
  net::Detached limit();

  net::Loop& loop_;
  const net::Duration most_;
  net::Waiter limit_;
  net::Waiter* waiter_ = nullptr;  ///< of the call
  std::function<void()> done_;
  bool under_way_ = false;
};

}  // namespace edge::kube
