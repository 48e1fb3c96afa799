#include "controller/kube/farewell.h"

#include <utility>

namespace edge::kube {

void Farewell::begin(Elector* elector, std::function<void()> done) {
  if (elector == nullptr) return;
  done_ = std::move(done);
  under_way_ = true;
  run(*elector);
}

net::Detached Farewell::run(Elector& elector) {
  net::Waiter waiter(loop_);
  waiter_ = &waiter;
  limit();
  co_await elector.stop(waiter);
  waiter_ = nullptr;
  limit_.cancel();
  under_way_ = false;
  done_();
}

net::Detached Farewell::limit() {
  const net::Time until = loop_.now() + most_;
  co_await limit_.wait(until);
  if (waiter_ != nullptr) waiter_->cancel();
}

}  // namespace edge::kube
