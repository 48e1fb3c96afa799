#include "net/server/http_server.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <latch>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/server/acceptor.h"
#include "net/server/conversation.h"
#include "net/server/host.h"
#include "net/server/tls_entrance.h"

namespace edge::net::server {
namespace {

/// For answers that are under way when a server with a thread of its own is destroyed.
constexpr Duration kPatience = std::chrono::seconds(2);
/// Where connections of this process come from.
const IpAddress kLoopback = *parse_ip("127.0.0.1");

}  // namespace

class HttpServer::Impl final : TimerNode {
 public:
  Impl(Loop& loop, ServerOptions options, Handler handler, Fd socket)
      : address_(local_address(socket.get())),
        host_(loop, std::move(options), std::move(handler)),
        acceptor_(std::make_unique<Acceptor>(loop, std::move(socket), [this](Fd client, const SocketAddress& peer) {
          accept(std::move(client), peer);
        })) {}

  const SocketAddress& address() const { return address_; }
  Host& host() { return host_; }

  void serve_own(Fd client) {
    if (host_.draining()) return;
    Peer peer;
    peer.address.address = kLoopback;
    if (host_.has_room(kLoopback)) converse(std::move(client), std::move(peer));
  }

  void stop(Duration patience, std::function<void()> stopped) {
    if (acceptor_ != nullptr) {
      acceptor_->close();
      host_.loop().retire(std::move(acceptor_));
    }
    host_.loop().timers().set(*this, host_.loop().now() + patience);
    host_.drain(std::move(stopped));
  }

 private:
  void expired() override { host_.cancel_all(); }

  void accept(Fd client, const SocketAddress& address) {
    if (!host_.has_room(address.address)) return;
    keep_alive(client.get());
    Peer peer{.address = address};
    if (host_.options().tls == nullptr) return converse(std::move(client), std::move(peer));
    begin(new TlsEntrance(host_, std::move(peer), std::move(client), host_.options().tls), address.address);
  }

  void converse(Fd client, Peer peer) {
    const IpAddress source = peer.address.address;
    begin(new Conversation(host_, std::make_shared<const Peer>(std::move(peer)), {std::move(client), nullptr},
                           Conversation::Kind::kConnection),
          source);
  }

  template <typename Begun>
  void begin(Begun* session, const IpAddress& source) {
    host_.count(*session, source);
    host_.keep(*session);
    session->start();
  }

  SocketAddress address_;
  Host host_;
  std::unique_ptr<Acceptor> acceptor_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::start(Loop& loop, ServerOptions options, Handler handler) {
  // SO_REUSEPORT would let two servers share a port without a word.
  if (options.port != 0 && port_taken(options.address, options.port)) {
    return Error{ErrorCode::kUnavailable, "port " + std::to_string(options.port) + " is in use"};
  }
  Result<Fd> socket = listen_tcp(options.address, options.port);
  if (!socket) return socket.error();
  return adopt(loop, std::move(*socket), std::move(options), std::move(handler));
}

std::unique_ptr<HttpServer> HttpServer::adopt(Loop& loop, Fd listener, ServerOptions options, Handler handler) {
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::make_unique<Impl>(loop, std::move(options), std::move(handler), std::move(listener))));
}

SocketAddress HttpServer::address() const { return impl_->address(); }
void HttpServer::serve_own(Fd connection) { impl_->serve_own(std::move(connection)); }
void HttpServer::replace_tls(std::shared_ptr<const tls::Sites> tls) { impl_->host().replace_tls(std::move(tls)); }
void HttpServer::stop(Duration patience, std::function<void()> stopped) { impl_->stop(patience, std::move(stopped)); }
std::size_t HttpServer::connections() const { return impl_->host().connections(); }

// ---- ServerThread -------------------------------------------------------------------------------------------------

struct ServerThread::Impl {
  Loop loop;
  std::unique_ptr<HttpServer> server;
  std::vector<std::unique_ptr<HttpServer>> others;  ///< of the loop's thread
  std::size_t running = 0;                          ///< servers that are being stopped
  std::function<void()> stopped;
  std::thread thread;

  void stop() {
    running = 1 + others.size();
    const auto ended = [this] {
      if (--running == 0) loop.stop();
    };
    server->stop(kPatience, ended);
    for (const auto& other : others) other->stop(kPatience, ended);
  }
};

ServerThread::ServerThread(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<ServerThread>> ServerThread::start(ServerOptions options,
                                                          const std::function<Result<Handler>(Loop&)>& prepare,
                                                          std::function<void()> stopped) {
  auto impl = std::make_unique<Impl>();
  Result<Handler> handler = prepare(impl->loop);
  if (!handler) return handler.error();
  Result<std::unique_ptr<HttpServer>> server = HttpServer::start(impl->loop, std::move(options), std::move(*handler));
  if (!server) {
    // What was prepared lives on this loop, and cannot outlive it.
    if (stopped) stopped();
    return server.error();
  }
  impl->server = std::move(*server);
  impl->stopped = std::move(stopped);
  impl->thread = std::thread([raw = impl.get()] { raw->loop.run(); });
  return std::unique_ptr<ServerThread>(new ServerThread(std::move(impl)));
}

Result<SocketAddress> ServerThread::add(ServerOptions options, Handler handler) {
  std::latch added(1);
  std::optional<Result<SocketAddress>> bound;
  impl_->loop.post([&] {
    auto server = HttpServer::start(impl_->loop, std::move(options), std::move(handler));
    bound = server ? Result<SocketAddress>((*server)->address()) : Result<SocketAddress>(server.error());
    if (server) impl_->others.push_back(std::move(*server));
    added.count_down();
  });
  added.wait();
  return *std::move(bound);
}

ServerThread::~ServerThread() {
  impl_->loop.post([this] { impl_->stop(); });
  impl_->thread.join();
  impl_->others.clear();
  impl_->server.reset();
  if (impl_->stopped) impl_->stopped();
}

SocketAddress ServerThread::address() const { return impl_->server->address(); }
Loop& ServerThread::loop() { return impl_->loop; }

Result<Fd> ServerThread::dial() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return Error{ErrorCode::kUnavailable, std::string("no connection within the process: ") + std::strerror(errno)};
  }
  // What is posted is kept in a function, which is copied.
  const auto served = std::make_shared<Fd>(ends[0]);
  post([served](HttpServer& server) { server.serve_own(std::move(*served)); });
  return Fd(ends[1]);
}

void ServerThread::post(std::function<void(HttpServer&)> work) {
  impl_->loop.post([this, task = std::move(work)] { task(*impl_->server); });
}

}  // namespace edge::net::server
