#include "runtime/session/udp/udp_batches.h"

#include <utility>

#include "runtime/session/udp/udp_listener.h"

namespace edge::runtime {

UdpBatches::Received UdpBatches::receive_answers(int fd) {
  if (used_ + kAnswers > answers_.slots()) flush();
  Received received{.first = used_};
  received.count = answers_.receive(fd, used_, kAnswers, received.error);
  used_ += received.count;
  return received;
}

void UdpBatches::answer(const std::shared_ptr<UdpListener>& listener, const net::DatagramQueue::Target& to,
                        const net::Datagrams& datagrams) {
  if (to_clients_.full() || (listener_ != nullptr && listener_ != listener)) {
    listener_->send(to_clients_);
    listener_.reset();
  }
  if (listener_ == nullptr) listener_ = listener;
  // Joined ones of different sizes take a place each.
  const bool fits = datagrams.count() == 1 || to_clients_.empty();
  if (!fits) listener_->send(to_clients_);
  to_clients_.add(to, datagrams);
  loop_.defer(*this);
}

void UdpBatches::flush() {
  if (listener_ != nullptr) listener_->send(to_clients_);
  listener_.reset();
  used_ = 0;
}

}  // namespace edge::runtime
