// The beginning of a connection that is not plain HTTP from its first byte on: the PROXY header of a proxy in front,
// the server name in a TLS ClientHello. A session, a handshake or a tunnel then takes over.
//
//   accept ─> [PROXY header] ─> [ClientHello, only peeked at] ─> Session | TlsHandshake | Tunnel
//
// The bytes are peeked at and left in the kernel, so that a connection with an incomplete beginning uses no memory, and
// the next stage reads them from the start.
#pragma once

#include <cstddef>
#include <string_view>

#include "net/loop.h"
#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/session/accept/client_hello.h"
#include "runtime/session/accept/entrance.h"
#include "runtime/session/client_session.h"
#include "runtime/session/thread_program.h"

namespace edge::runtime {

class Worker;

class Greeting final : public ClientSession {
 public:
  Greeting(Worker& worker, ClientConnection connection, net::Fd client);

  /// Runs until the connection is handed over or closed, then has the worker free it.
  void start() { run(); }
  void drain() override { waiter_.wake(net::Wake::kReady); }
  void cancel() override { waiter_.cancel(); }

 private:
  net::Detached run();
  // \returns why the connection is closed, as the access log's reason; empty: it is not.
  net::Task<std::string_view> take_header();
  bool count_source();
  net::Task<std::string_view> look_for_name();
  net::Task<std::string_view> look(std::size_t seen, std::size_t most);
  bool decrypts() const;
  void hand_on();
  void refuse_name();
  void log(std::string_view reason);

  Worker& worker_;
  net::Channel client_;
  net::Waiter waiter_;
  ClientConnection connection_;
  ProgramPin program_;
  const Entrance& entrance_;
  net::Time began_;
  net::Time until_;
  /// The client has sent nothing: it may be a port check.
  bool silent_ = true;
  ClientHello hello_;
};

}  // namespace edge::runtime
