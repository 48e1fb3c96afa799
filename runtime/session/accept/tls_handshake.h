// The TLS handshake of a connection that is decrypted here, with a deadline; a session of the negotiated protocol then
// takes over.
#pragma once

#include <memory>

#include "net/loop.h"
#include "net/task.h"
#include "net/tls/record_layer.h"
#include "runtime/phase/client_connection.h"
#include "runtime/session/client_session.h"

namespace edge::runtime {

class Worker;

class TlsHandshake final : public ClientSession {
 public:
  /// `sites`: the listeners of the connection's bind.
  TlsHandshake(Worker& worker, ClientConnection connection, net::Fd client,
               std::shared_ptr<const net::tls::Sites> sites);

  /// Runs until the connection is handed over or closed, then has the worker free it.
  void start() { run(); }
  void drain() override;
  void cancel() override { waiter_.cancel(); }

 private:
  net::Detached run();
  /// \returns why the handshake failed, as the access log's reason; empty: it succeeded.
  net::Task<std::string_view> shake_hands();
  /// Waits until there is a certificate for the name that the client asks for, within a bound.
  net::Task<bool> await_certificate();
  void note_use(const net::tls::Site* site);
  void hand_on();
  void tell_failure(std::string_view reason);

  Worker& worker_;
  net::Channel client_;
  net::Waiter waiter_;
  ClientConnection connection_;
  /// Owned by the channel.
  net::tls::RecordLayer& layer_;
  std::shared_ptr<const net::tls::Sites> sites_;
  net::Time began_;
  net::Time until_;
};

}  // namespace edge::runtime
