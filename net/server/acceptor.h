// A listening socket on a loop. No coroutine waits on it: each event accepts pending connections.
#pragma once

#include <functional>

#include "net/loop.h"
#include "net/socket.h"

namespace edge::net::server {

class Acceptor final : public Channel {
 public:
  using Accepted = std::function<void(Fd client, const SocketAddress& peer)>;

  Acceptor(Loop& loop, Fd socket, Accepted accepted);

 private:
  /// While the process is out of descriptors or memory: pending connections are not reported again, so accepting is
  /// retried later.
  class Pause final : public TimerNode {
   public:
    explicit Pause(Acceptor& acceptor) : acceptor_(acceptor) {}
    void expired() override { acceptor_.resume(); }

   private:
    Acceptor& acceptor_;
  };

  void unattended(std::uint8_t events) override;
  void resume();
  /// \returns whether more may be pending.
  bool accept_some();

  Loop& loop_;
  Accepted accepted_;
  Pause pause_;
};

}  // namespace edge::net::server
