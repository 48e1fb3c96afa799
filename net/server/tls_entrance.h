// The beginning of a connection under TLS: the handshake, with a deadline; then whoever speaks what was agreed on.
#pragma once

#include <memory>

#include "net/server/host.h"
#include "net/tls/record_layer.h"

namespace edge::net::server {

class TlsEntrance final : public Session {
 public:
  TlsEntrance(Host& host, Peer peer, Fd client, std::shared_ptr<const tls::Sites> sites);

  /// Runs until the connection is handed on, or closed, then has the host forget it.
  void start() { run(); }
  /// Who is not known yet has asked for nothing.
  void drain() override { waiter_.cancel(); }
  void cancel() override { waiter_.cancel(); }

 private:
  Detached run();
  Task<bool> shake_hands();
  void hand_on();

  Host& host_;
  Peer peer_;
  Channel client_;
  Waiter waiter_;
  /// Of the channel, which owns it.
  tls::RecordLayer& layer_;
};

}  // namespace edge::net::server
