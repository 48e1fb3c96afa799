// A connection whose bytes are not read here: TCP, and TLS that somebody else decrypts, or that was decrypted before
// and is no HTTP. One decision when it begins, one endpoint until it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "net/loop.h"
#include "net/task.h"
#include "runtime/match/decide.h"
#include "runtime/observe/request_end.h"
#include "runtime/phase/client_connection.h"
#include "runtime/session/client_session.h"
#include "runtime/session/thread_program.h"

namespace edge::runtime {

class Worker;

class Tunnel final : public ClientSession {
 public:
  /// `server_name`: what the client asked for by SNI, canonical; empty: nothing.
  Tunnel(Worker& worker, ClientConnection connection, net::Transport client, std::string_view server_name);

  /// Runs until the connection ends, then has the worker forget it.
  void start() { run(); }
  /// Goes on until the drain's deadline: nobody knows where its messages end.
  void drain() override {}
  void cancel() override { waiter_.cancel(); }

 private:
  net::Detached run();
  net::Task<void> serve();
  BackendPool* choose_pool(const Decision& decision);
  net::Task<Acquired> connect(BackendPool& pool, std::string_view header);
  net::Task<void> pump(BackendPool& pool, Acquired acquired, net::Duration idle);
  void refuse(std::string_view reason);
  /// Its line in the access log, at its end.
  void log();

  Worker& worker_;
  net::Channel client_;
  net::Waiter waiter_;
  net::Inlet inlet_;
  net::Outlet outlet_;
  ClientConnection connection_;
  ProgramPin program_;
  std::string server_name_;
  /// What there is to tell of it.
  std::optional<Decision> decision_;
  const program::BackendRecord* backend_ = nullptr;
  net::SocketAddress endpoint_{};
  RequestEnd ending_;
  net::Time began_;
  net::Time connecting_at_{};
  net::Time connected_at_{};
};

}  // namespace edge::runtime
