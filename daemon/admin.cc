#include "daemon/admin.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <utility>

#include <fcntl.h>

#include "base/os/thread_priority.h"

namespace edge::daemon {
namespace {

constexpr std::size_t kMaxConnections = 64;
/// Of one address: whoever holds all that it may have leaves room for health checks and scrapes of others.
constexpr std::size_t kMaxConnectionsPerSource = kMaxConnections / 2;
constexpr std::size_t kMaxHeadBytes = std::size_t{16} << 10;
constexpr std::size_t kMaxBodyBytes = std::size_t{64} << 10;
/// Of one HTTP/2 connection.
constexpr std::uint32_t kMaxStreams = 32;
constexpr auto kDeadline = std::chrono::seconds(10);
/// How long somebody who asks too often waits for being told: at once, he would ask again at once.
constexpr auto kHoldRefusal = std::chrono::seconds(1);
constexpr int kTooManyRequests = 429;
/// For answers that are under way when it ends, or when the ports go to another process.
constexpr auto kPatience = std::chrono::seconds(1);

net::server::ServerOptions options_of(const ListenAddress& listen) {
  net::server::ServerOptions options;
  if (listen.address != IpAddress()) options.address = listen.address;
  options.port = listen.port;
  options.max_connections = kMaxConnections;
  options.max_connections_per_source = kMaxConnectionsPerSource;
  options.max_streams = kMaxStreams;
  options.max_head = kMaxHeadBytes;
  options.max_body = kMaxBodyBytes;
  options.max_bodies = kMaxConnections * kMaxBodyBytes;
  options.head_time = kDeadline;
  options.stall_time = kDeadline;
  return options;
}

net::Task<AdminReply> refuse_later(net::Loop& loop, AdminReply refusal) {
  net::Waiter waiter(loop);
  co_await waiter.wait(loop.now() + kHoldRefusal);
  co_return refusal;
}

/// One of `inherited` that listens there; none: it is to be opened.
net::Fd adopt(const ListenAddress& listen, std::vector<net::Fd>& inherited) {
  for (net::Fd& socket : inherited) {
    if (!socket.valid()) continue;
    const net::SocketAddress bound = net::local_address(socket.get());
    if (bound.address == listen.address && bound.port == listen.port) return std::move(socket);
  }
  return {};
}

}  // namespace

struct AdminServer::Impl {
  net::Loop loop;
  std::vector<std::unique_ptr<net::server::HttpServer>> servers;
  std::vector<net::Fd> sockets;  ///< duplicates of what the servers listen on
  std::vector<ListenAddress> bound;
  std::size_t running = 0;
  std::thread thread;

  Status open(AdminPort port, std::vector<net::Fd>& inherited) {
    net::server::ServerOptions options = options_of(port.listen);
    net::Fd socket = adopt(port.listen, inherited);
    if (!socket.valid()) {
      const auto failed = [&](const std::string& why) {
        const std::string flag = port.flag.empty() ? "" : " (" + port.flag + ")";
        return Error{ErrorCode::kUnavailable, "cannot listen on " + to_string(port.listen) + flag + ": " + why};
      };
      // SO_REUSEPORT would let two processes share the port without a word.
      if (port.listen.port != 0 && net::port_taken(options.address, options.port)) return failed("port is in use");
      auto opened = net::listen_tcp(options.address, options.port);
      if (!opened) return failed(opened.error().text);
      socket = std::move(*opened);
    }
    bound.push_back({port.listen.address, net::local_address(socket.get()).port});
    sockets.emplace_back(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
    servers.push_back(net::server::HttpServer::adopt(
        loop, std::move(socket), std::move(options),
        [this, handler = std::move(port.handler)](const AdminRequest& request) { return handler(loop, request); }));
    return {};
  }

  /// Accepts no more; the thread ends with the last answer, or soon.
  void end() {
    if (!thread.joinable()) return;
    loop.post([this] {
      running = servers.size();
      for (const auto& server : servers) {
        server->stop(kPatience, [this] {
          if (--running == 0) loop.stop();
        });
      }
    });
    thread.join();
  }
};

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

AdminServer::~AdminServer() { impl_->end(); }

std::vector<net::Fd> AdminServer::give_up() {
  impl_->end();
  return std::move(impl_->sockets);
}

const std::vector<ListenAddress>& AdminServer::addresses() const { return impl_->bound; }

Result<std::unique_ptr<AdminServer>> AdminServer::start(std::vector<AdminPort> ports, std::vector<net::Fd> inherited) {
  auto impl = std::make_unique<Impl>();
  for (AdminPort& port : ports) {
    if (Status status = impl->open(std::move(port), inherited); !status) return status.error();
  }
  impl->thread = std::thread([raw = impl.get()] {
    lower_thread_priority();
    raw->loop.run();
  });
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminReply text_reply(int status, std::string body) {
  return {.status = status, .content_type = "text/plain; charset=utf-8", .body = std::move(body)};
}

WaitingHandler at_once(AdminHandler handler) {
  return [answer = std::move(handler)](net::Loop& loop, const AdminRequest& request) {
    auto answered = answer(request);
    AdminReply reply = answered ? std::move(*answered) : text_reply(404, "not found\n");
    reply.fields.emplace_back("Cache-Control", "no-store");
    if (reply.status == kTooManyRequests) return refuse_later(loop, std::move(reply));
    return net::Task<AdminReply>(std::move(reply));
  };
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  ListenAddress listen;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), listen.port);
  if (fault != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  if (host.empty()) return listen;  // `::`, which takes IPv4 as well
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = parse_ip(host);
  if (!address || bracketed == (host.find(':') == std::string_view::npos)) return std::nullopt;
  listen.address = *address;
  return listen;
}

std::string to_string(const ListenAddress& listen) {
  const std::string host = edge::to_string(listen.address);
  return (listen.address.is_v4() ? host : "[" + host + "]") + ":" + std::to_string(listen.port);
}

bool is_loopback(const IpAddress& address) {
  return address.is_v4() ? address.bytes[12] == 127 : address == *parse_ip("::1");
}

}  // namespace edge::daemon
