#include "tests/support/upstream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace edge::test {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Answers until the peer leaves. `text` is the body, and names the upstream.
void answer_requests(int fd, const TlsSide* tls, const std::string& text, const std::atomic<int>& status,
                     Deadline deadline) {
  Connection connection(fd, deadline);
  if (tls != nullptr && !connection.encrypt(tls->over(fd))) return;
  for (;;) {
    const Result<Message> head = connection.receive_head();
    if (!head) return;
    if (!connection.receive_body(*head)) return;
    const int now = status;
    if (now == 0) return;
    const std::string answer = "HTTP/1.1 " + std::to_string(now) +
                               " X\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" +
                               (head->start_line.starts_with("HEAD ") ? "" : text);
    if (!connection.send(answer)) return;
  }
}

}  // namespace

Upstream::Upstream(Stage& stage, std::string name, Kind kind, std::shared_ptr<const TlsSide> tls)
    : Actor(stage), name_(std::move(name)), kind_(kind), tls_(std::move(tls)) {
  if (Status listening = listen(); !listening) stage_.fail(name_ + ": " + listening.error().text);
  if (kind_ == Kind::kFull) fill_backlog();
  if (kind_ == Kind::kDead) ::close(std::exchange(listener_, -1));
}

Upstream::~Upstream() {
  join();
  if (listener_ >= 0) ::close(listener_);
  for (const int fd : fillers_) ::close(fd);
}

Status Upstream::listen() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address = loopback(port_);
  socklen_t size = sizeof(address);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, kind_ == Kind::kFull ? 0 : 512) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return Error{ErrorCode::kUnavailable, std::string("cannot listen: ") + std::strerror(errno)};
  }
  port_ = ntohs(address.sin_port);
  return {};
}

/// Connects until one attempt stays pending: the kernel drops further SYNs.
void Upstream::fill_backlog() {
  const sockaddr_in address = loopback(port_);
  for (int i = 0; i < 16; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    fillers_.push_back(fd);
    ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    pollfd connected{fd, POLLOUT, 0};
    if (::poll(&connected, 1, 100) == 0) return;
  }
}

void Upstream::start(std::vector<Command> commands) {
  if (kind_ == Kind::kServe) {
    thread_ = std::thread([this] { serve(); });
  } else if (kind_ == Kind::kScript) {
    thread_ = std::thread([this, commands = std::move(commands)] {
      if (Status done = run(commands); !done) stage_.fail("upstream " + name_ + ", " + done.error().text);
    });
  }
}

void Upstream::join() {
  if (thread_.joinable()) thread_.join();
  for (std::thread& thread : served_) thread.join();
  served_.clear();
}

void Upstream::serve() {
  while (wait_for(listener_, POLLIN, stage_.deadline())) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    served_.emplace_back([this, fd] { answer_requests(fd, tls_.get(), name_, status_, stage_.deadline()); });
  }
}

Status Upstream::accept(const std::string& name) {
  if (Status ready = wait_for(listener_, POLLIN, stage_.deadline()); !ready) return ready;
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return Error{ErrorCode::kUnavailable, std::string("cannot accept: ") + std::strerror(errno)};
  // What a script sends leaves before what it says to others.
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return adopt(name.empty() ? std::to_string(++accepted_) : name, fd, tls_.get());
}

Status Upstream::run_own(const Command& command) {
  if (command.name == "accept") return accept(command.argument);
  if (command.name == "stop") {
    ::close(std::exchange(listener_, -1));
    close_all();
    return {};
  }
  if (command.name == "start") return listen();
  // As kernels that accept less than is sent: for back-pressure.
  if (command.name == "small-buffers") {
    const int size = 4096;
    ::setsockopt(listener_, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    return {};
  }
  return unknown();
}

Status Upstream::expect_untouched_rest() {
  if (kind_ != Kind::kScript || listener_ < 0) return {};
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0) {
    char bytes[4096];
    const ssize_t size = ::recv(fd, bytes, sizeof(bytes), 0);
    ::close(fd);
    return Error{ErrorCode::kAborted, "an unexpected connection to upstream " + name_ + ": `" +
                                          std::string(bytes, size > 0 ? static_cast<std::size_t>(size) : 0) + "`"};
  }
  return expect_quiet();
}

}  // namespace edge::test
