// A small HTTP server for the cold paths: the resource API, metrics, the dashboard. HTTP/1.1 and HTTP/2, with and
// without TLS, on one loop, over the codecs that the data plane has.
//
// It knows nothing of what it serves. What a client can take of it is bounded: connections, streams, sizes and times.
// An idle stream costs a coroutine's frame, no thread and no buffer.
//
// Threads: everything belongs to the loop's thread, but what says otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "net/loop.h"
#include "net/server/message.h"
#include "net/socket.h"
#include "net/task.h"
#include "net/tls/server.h"

namespace edge::net::server {

/// Answers a request. It may be a plain function that returns a finished Reply, or a coroutine that waits on the same
/// loop; `request` lives until it has answered, even when the client has gone.
using Handler = std::function<Task<Reply>(const Request& request)>;
/// Looks at a request before its body is read: what it answers is the answer, and the body is not waited for.
using Admission = std::function<std::optional<Reply>(const Request& head)>;
/// What is answered to a request that never reaches the handler: `status` is 400, 408, 413, 414, 417, 431, 501, 503 or
/// 505, `text` a sentence that says why.
using FaultReply = std::function<Reply(int status, std::string_view text)>;

/// Told of a client whose handshake failed: `why` is TLS's reason, of a certificate that is not to be believed for one.
using HandshakeRefused = std::function<void(const SocketAddress& client, std::string_view why)>;

struct ServerOptions {
  /// No address: every address of the node. Port 0: the system chooses.
  std::optional<IpAddress> address{};
  std::uint16_t port = 0;
  /// Null: clear text. A client certificate is asked for when the sites' context does.
  std::shared_ptr<const tls::Sites> tls{};

  std::size_t max_connections = 4096;
  /// Of them from one address, an IPv6 address by its /64: whoever holds as many as it may leaves room for others.
  std::size_t max_connections_per_source = 2048;
  /// Of one HTTP/2 connection.
  std::uint32_t max_streams = 1000;
  /// A head over it is answered with 431, a target over half of it with 414.
  std::size_t max_head = std::size_t{32} << 10;
  /// A body over it is answered with 413.
  std::size_t max_body = std::size_t{4} << 20;
  /// All bodies at a time; what would be over it is answered with 503.
  std::size_t max_bodies = std::size_t{128} << 20;
  /// Bodies of at least so much are compressed for who takes gzip; 0: none is. Of streams those of a known size.
  std::size_t gzip_from = 0;

  /// From the connection, or the first byte of a later request, to the end of its head; a TLS handshake, too.
  Duration head_time = std::chrono::seconds(10);
  /// Between two pieces of a body, of a request or of an answer.
  Duration stall_time = std::chrono::seconds(30);
  /// Between two requests.
  Duration idle_time = std::chrono::seconds(75);

  Admission admit{};   ///< null: all are
  FaultReply fault{};  ///< null: the sentence as text
  HandshakeRefused handshake_refused{};
};

class HttpServer {
 public:
  /// Listens, and serves while the loop runs. `loop` must outlive it. kUnavailable names the address that could not be
  /// bound.
  static Result<std::unique_ptr<HttpServer>> start(Loop& loop, ServerOptions options, Handler handler);
  /// The same on a socket that listens already; `options` says nothing of where.
  static std::unique_ptr<HttpServer> adopt(Loop& loop, Fd listener, ServerOptions options, Handler handler);
  /// After `stop` has called back.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// What was bound. From any thread.
  SocketAddress address() const;
  /// Serves a connection of this process, without TLS: whoever has its other end is believed to be local.
  void serve_own(Fd connection);
  /// For connections from now on.
  void replace_tls(std::shared_ptr<const tls::Sites> tls);
  /// Accepts no more, lets requests end, ends streams where they are, and after `patience` everything. `stopped` is
  /// called when no connection is left; the server may be destroyed from then on, though not from within.
  void stop(Duration patience, std::function<void()> stopped);
  std::size_t connections() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A server with a thread and a loop of its own.
class ServerThread {
 public:
  /// `prepare` is called at once with the loop, which does not run yet, and gives the handler; what it makes may live
  /// on that loop. `stopped` is called when the loop runs no more, or never will, for the handler's things to be
  /// destroyed.
  static Result<std::unique_ptr<ServerThread>> start(ServerOptions options,
                                                     const std::function<Result<Handler>(Loop&)>& prepare,
                                                     std::function<void()> stopped = {});
  /// Stops with patience, and joins.
  ~ServerThread();
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  SocketAddress address() const;
  /// Opens a connection to the server within this process: neither TCP nor TLS. From any thread.
  Result<Fd> dial();
  /// From any thread; runs `work` on the loop's.
  void post(std::function<void(HttpServer&)> work);

 private:
  struct Impl;
  explicit ServerThread(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::net::server
