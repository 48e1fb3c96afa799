// A small HTTP server for everything but the data plane: the resource API, metrics, the dashboard. HTTP/1.1 and HTTP/2,
// with and without TLS, on one loop, with the data plane's codecs.
//
// Independent of the content. A client's resources are limited: connections, streams, sizes and times. An idle stream
// costs a coroutine's frame, no thread and no buffer.
//
// Threads: everything is for the loop's thread, except as stated.
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

/// Answers a request: a plain function that returns a finished Reply, or a coroutine that waits on the same loop;
/// `request` lives until it has answered, even when the client has disconnected.
using Handler = std::function<Task<Reply>(const Request& request)>;
/// Checks a request before its body is read: a returned reply is the response, and the body is not read.
using Admission = std::function<std::optional<Reply>(const Request& head)>;
/// Returns the response to a request that does not reach the handler: `status` is 400, 408, 413, 414, 417, 431, 501,
/// 503 or 505, `text` a sentence with the reason.
using FaultReply = std::function<Reply(int status, std::string_view text)>;

/// Called for a client whose handshake failed: `why` is TLS's reason, such as an untrusted certificate.
using HandshakeRefused = std::function<void(const SocketAddress& client, std::string_view why)>;

struct ServerOptions {
  /// No address: every address of the node. Port 0: chosen by the system.
  std::optional<IpAddress> address{};
  std::uint16_t port = 0;
  /// Null: plain text. A client certificate is requested when the sites' context says so.
  std::shared_ptr<const tls::Sites> tls{};

  std::size_t max_connections = 4096;
  /// Limit per address, or IPv6 /64, so that one client leaves room for others.
  std::size_t max_connections_per_source = 2048;
  /// Per HTTP/2 connection.
  std::uint32_t max_streams = 1000;
  /// A larger head is answered with 431, a target over half of it with 414.
  std::size_t max_head = std::size_t{32} << 10;
  /// A larger body is answered with 413.
  std::size_t max_body = std::size_t{4} << 20;
  /// All bodies at a time; what would exceed it is answered with 503.
  std::size_t max_bodies = std::size_t{128} << 20;
  /// Bodies of at least this size are compressed for clients that accept gzip; 0: none. Streams only with a known size.
  std::size_t gzip_from = 0;

  /// From the connection, or the first byte of a later request, to the end of its head; also for a TLS handshake.
  Duration head_time = std::chrono::seconds(10);
  /// Between two pieces of a body, of a request or a response.
  Duration stall_time = std::chrono::seconds(30);
  /// Between two requests.
  Duration idle_time = std::chrono::seconds(75);

  Admission admit{};   ///< null: all requests are admitted
  FaultReply fault{};  ///< null: the sentence as plain text
  HandshakeRefused handshake_refused{};
};

class HttpServer {
 public:
  /// Listens, and serves while the loop runs. `loop` must outlive the server. kUnavailable names the address that could
  /// not be bound.
  static Result<std::unique_ptr<HttpServer>> start(Loop& loop, ServerOptions options, Handler handler);
  /// The same on a socket that is already listening; the address in `options` is ignored.
  static std::unique_ptr<HttpServer> adopt(Loop& loop, Fd listener, ServerOptions options, Handler handler);
  /// To be called after `stop` has called back.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Returns the bound address. Any thread.
  SocketAddress address() const;
  /// Serves a connection from within this process, without TLS: the peer is treated as local.
  void serve_own(Fd connection);
  /// For new connections.
  void replace_tls(std::shared_ptr<const tls::Sites> tls);
  /// Stops accepting, finishes requests, ends streams where they are, and closes everything after `patience`. `stopped`
  /// is called when no connection is left; the server may be destroyed from then on, though not from within the
  /// callback.
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
  /// `prepare` is called at once with the loop, which does not run yet, and returns the handler; objects that it makes
  /// may use that loop. `stopped` is called when the loop has ended, or will never run, to destroy them.
  static Result<std::unique_ptr<ServerThread>> start(ServerOptions options,
                                                     const std::function<Result<Handler>(Loop&)>& prepare,
                                                     std::function<void()> stopped = {});
  /// Stops with patience, and joins.
  ~ServerThread();
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;

  /// Another server on the same loop. Fails as HttpServer::start.
  Result<SocketAddress> add(ServerOptions options, Handler handler);
  /// Of the first server, as what follows.
  SocketAddress address() const;
  /// Opens a connection to the server within this process, without TCP or TLS. Any thread.
  Result<Fd> dial();
  /// Runs until the thread is destroyed; what else lives on it ends before that.
  Loop& loop();
  /// From any thread; runs `work` on the loop's.
  void post(std::function<void(HttpServer&)> work);

 private:
  struct Impl;
  explicit ServerThread(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::net::server
