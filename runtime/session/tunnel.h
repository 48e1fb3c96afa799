// A connection that is forwarded as bytes: TCP, TLS passthrough, or decrypted TLS that is not HTTP. Routed once at its
// beginning, to one endpoint until its end.
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
  /// `server_name`: the SNI, canonical; empty: none.
  Tunnel(Worker& worker, ClientConnection connection, net::Transport client, std::string_view server_name);

  /// Runs until the connection ends, then has the worker free it.
  void start() { run(); }
  /// Continues until the drain's deadline: message boundaries are unknown.
  void drain() override {}
  void cancel() override { waiter_.cancel(); }

 private:
  net::Detached run();
  net::Task<void> serve();
  BackendPool* choose_pool(const Decision& decision);
  net::Task<Acquired> connect(BackendPool& pool, std::string_view header);
  /// kNone: bytes go to the other cluster's service from now on.
  net::Task<AcquireFault> open_to_cluster(UpstreamConnection& upstream, net::Time until);
  net::Task<void> pump(BackendPool& pool, Acquired acquired, net::Duration idle);
  void refuse(std::string_view reason);
  /// Writes its access log line at the end.
  void log();

  Worker& worker_;
  net::Channel client_;
  net::Waiter waiter_;
  net::Inlet inlet_;
  net::Outlet outlet_;
  net::Inlet from_upstream_;
  net::Outlet to_upstream_;
  ClientConnection connection_;
  ProgramPin program_;
  std::string server_name_;
  /// The route, for the access log.
  std::optional<Decision> decision_;
  const program::BackendRecord* backend_ = nullptr;
  net::SocketAddress endpoint_{};
  std::shared_ptr<const EndpointCluster> cluster_;  ///< of the endpoint; null: this one
  RequestEnd ending_;
  net::Time began_;
  net::Time connecting_at_{};
  net::Time connected_at_{};
};

}  // namespace edge::runtime
