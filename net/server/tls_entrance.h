// The TLS handshake of a connection, with a deadline; a conversation of the negotiated protocol then takes over.
#pragma once

#include <memory>

#include "net/server/host.h"
#include "net/tls/record_layer.h"

namespace edge::net::server {

class TlsEntrance final : public Session {
 public:
  TlsEntrance(Host& host, Peer peer, Fd client, std::shared_ptr<const tls::Sites> sites);

  /// Runs until the connection is handed over or closed, then has the host free it.
  void start() { run(); }
  /// Closes at once: no request was made yet.
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
  /// Owned by the channel.
  tls::RecordLayer& layer_;
};

}  // namespace edge::net::server
