// The beginning of a connection that is not plain HTTP from its first byte on: the PROXY header of a proxy before us,
// the name that a TLS client asks for. Then somebody else goes on with it.
//
//   accept ─> [PROXY header] ─> [ClientHello, only looked at] ─> Session | TlsHandshake | Tunnel
//
// What comes first is shown by the kernel and left there, so a connection that waits for the rest costs no memory, and
// whoever decrypts finds the bytes where they were.
#pragma once

#include <cstddef>
#include <string_view>

#include "net/loop.h"
#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/session/client_hello.h"
#include "runtime/session/client_session.h"
#include "runtime/session/entrance.h"
#include "runtime/session/thread_program.h"

namespace edge::runtime {

class Worker;

class Greeting final : public ClientSession {
 public:
  Greeting(Worker& worker, ClientConnection connection, net::Fd client);

  /// Runs until the connection is handed on, or closed, then has the worker forget it.
  void start() { run(); }
  void drain() override { waiter_.wake(net::Wake::kReady); }
  void cancel() override { waiter_.cancel(); }

 private:
  net::Detached run();
  // \returns why the connection is closed, as a word of the access log; empty: it is not.
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
  /// Nothing came of the client: it may only look whether somebody is there.
  bool silent_ = true;
  ClientHello hello_;
};

}  // namespace edge::runtime
