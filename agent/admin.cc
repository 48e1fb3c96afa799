// The only file with Beast: it serves the cold paths.
#include "agent/admin.h"

#include <algorithm>
#include <charconv>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fcntl.h>

namespace edge::agent {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Tcp = asio::ip::tcp;

constexpr std::size_t kMaxConnections = 64;
constexpr std::size_t kMaxHeadBytes = 8 * 1024;
constexpr auto kDeadline = std::chrono::seconds(10);
constexpr const char* kPlainText = "text/plain; charset=utf-8";
/// For answers that are under way when the ports go to another process.
constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

Tcp::endpoint endpoint_of(const ListenAddress& listen) {
  if (listen.address.is_v4()) {
    const auto& bytes = listen.address.bytes;
    return {asio::ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]}), listen.port};
  }
  return {asio::ip::address_v6(listen.address.bytes), listen.port};
}

AdminReply post(const http::request<http::empty_body>& request, const AdminAction& action) {
  if (request.find(http::field::origin) != request.end()) return {403, kPlainText, "not from a browser\n"};
  const std::string_view target(request.target().data(), request.target().size());
  const std::size_t question = std::min(target.find('?'), target.size());
  auto done = action(target.substr(0, question), target.substr(std::min(question + 1, target.size())));
  return done ? std::move(*done) : AdminReply{404, kPlainText, "not found\n"};
}

http::response<http::string_body> answer(const http::request<http::empty_body>& request, const AdminPort& port) {
  http::response<http::string_body> response;
  response.version(request.version());
  response.keep_alive(request.keep_alive());
  response.set(http::field::cache_control, "no-store");
  const bool head = request.method() == http::verb::head;
  AdminReply reply;
  if (port.action && request.method() == http::verb::post) {
    reply = post(request, port.action);
  } else if (!head && request.method() != http::verb::get) {
    reply = {405, kPlainText, "only GET and HEAD\n"};
    response.set(http::field::allow, port.action ? "GET, HEAD, POST" : "GET, HEAD");
  } else {
    const std::string_view target(request.target().data(), request.target().size());
    auto handled = port.handler(target.substr(0, target.find('?')));
    reply = handled ? std::move(*handled) : AdminReply{404, kPlainText, "not found\n"};
  }
  response.result(reply.status);
  response.set(http::field::content_type, reply.content_type);
  response.content_length(reply.body.size());
  if (!head) response.body() = std::move(reply.body);
  return response;
}

}  // namespace

struct AdminServer::Impl {
  asio::io_context context{1};
  std::vector<AdminPort> ports;
  std::vector<Tcp::acceptor> acceptors;
  std::vector<ListenAddress> bound;
  std::size_t connections = 0;
  bool ends = false;
  asio::steady_timer patience{context};
  std::thread thread;

  /// One of `inherited` that listens there.
  bool adopt(const ListenAddress& listen, std::vector<net::Fd>& inherited) {
    const Tcp::endpoint wanted = endpoint_of(listen);
    for (net::Fd& socket : inherited) {
      Tcp::acceptor acceptor(context);
      beast::error_code error;
      const int fd = socket.release();
      if (fd < 0) continue;
      acceptor.assign(wanted.protocol(), fd, error);
      if (!error && acceptor.local_endpoint(error) == wanted && !error) {
        bound.push_back(listen);
        acceptors.push_back(std::move(acceptor));
        return true;
      }
      socket.reset(acceptor.is_open() ? acceptor.release(error) : fd);
    }
    return false;
  }

  Status bind(const ListenAddress& listen) {
    const Tcp::endpoint endpoint = endpoint_of(listen);
    Tcp::acceptor acceptor(context);
    beast::error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && !listen.address.is_v4()) acceptor.set_option(asio::ip::v6_only(false), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return Error{ErrorCode::kUnavailable, "cannot listen on " + to_string(listen) + ": " + error.message()};
    bound.push_back({listen.address, acceptor.local_endpoint(error).port()});
    acceptors.push_back(std::move(acceptor));
    return {};
  }

  /// Accepts no more; the context ends with the last answer, or soon.
  std::vector<net::Fd> end() {
    std::vector<net::Fd> sockets;
    for (Tcp::acceptor& acceptor : acceptors) {
      beast::error_code error;
      sockets.emplace_back(::fcntl(acceptor.native_handle(), F_DUPFD_CLOEXEC, 0));
      acceptor.close(error);
    }
    ends = true;
    if (connections == 0) context.stop();
    patience.expires_after(kPatience);
    patience.async_wait([this](const beast::error_code&) { context.stop(); });
    return sockets;
  }

  asio::awaitable<void> accept(Tcp::acceptor& acceptor, const AdminPort& port) {
    for (;;) {
      beast::error_code error;
      Tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
      if (error == asio::error::operation_aborted) co_return;
      if (error) {  // out of descriptors: others will close theirs
        asio::steady_timer pause(context, kAcceptPause);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
        continue;
      }
      if (connections >= kMaxConnections) continue;  // closed by its destructor
      ++connections;
      asio::co_spawn(context, serve(beast::tcp_stream(std::move(socket)), port), asio::detached);
    }
  }

  asio::awaitable<void> serve(beast::tcp_stream stream, const AdminPort& port) {
    beast::flat_buffer buffer(kMaxHeadBytes + 1024);
    beast::error_code error;
    for (bool keep_alive = true; keep_alive && !error;) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(kMaxHeadBytes);
      stream.expires_after(kDeadline);
      co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, error));
      if (error) break;
      const auto response = answer(parser.get(), port);
      keep_alive = response.keep_alive() && !ends;
      co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, error));
    }
    stream.socket().shutdown(Tcp::socket::shutdown_send, error);
    if (--connections == 0 && ends) context.stop();
  }
};

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

AdminServer::~AdminServer() {
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

std::vector<net::Fd> AdminServer::give_up() {
  std::vector<net::Fd> sockets;
  if (!impl_->thread.joinable()) return sockets;
  asio::post(impl_->context, [&] { sockets = impl_->end(); });
  impl_->thread.join();
  return sockets;
}

const std::vector<ListenAddress>& AdminServer::addresses() const { return impl_->bound; }

Result<std::unique_ptr<AdminServer>> AdminServer::start(std::vector<AdminPort> ports, std::vector<net::Fd> inherited) {
  auto impl = std::make_unique<Impl>();
  impl->ports = std::move(ports);
  for (const AdminPort& port : impl->ports) {
    if (impl->adopt(port.listen, inherited)) continue;
    if (Status status = impl->bind(port.listen); !status) return status.error();
  }
  for (std::size_t i = 0; i < impl->ports.size(); ++i) {
    asio::co_spawn(impl->context, impl->accept(impl->acceptors[i], impl->ports[i]), asio::detached);
  }
  impl->thread = std::thread([raw = impl.get()] { raw->context.run(); });
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
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

}  // namespace edge::agent
