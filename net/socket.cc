#include "net/socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>

#include <unistd.h>

#include "net/marked_socket.h"
#include "net/raw_address.h"

namespace edge::net {
namespace {

constexpr int kBacklog = 4096;
constexpr std::size_t kFlatBytes = 1024;

std::size_t total_bytes(std::span<const iovec> pieces) {
  std::size_t total = 0;
  for (const iovec& piece : pieces) total += piece.iov_len;
  return total;
}

void set_number(int fd, int level, int option, std::int64_t value) {
  const int number = static_cast<int>(value);
  ::setsockopt(fd, level, option, &number, sizeof number);
}

std::string reason(int error) { return std::generic_category().message(error); }

ErrorCode listen_code(int error) {
  switch (error) {
    case EADDRINUSE:
      return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
      return ErrorCode::kPermissionDenied;
    // A node without IPv6; an address of a group, or one that wants an interface named.
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EINVAL:
      return ErrorCode::kNotFound;
    default:
      return ErrorCode::kUnavailable;
  }
}

void enable_bind_ahead(int fd, int family) {
  if (family == AF_INET6) {
    enable(fd, IPPROTO_IPV6, IPV6_FREEBIND);
  } else {
    enable(fd, IPPROTO_IP, IP_FREEBIND);
  }
}

Result<Fd> listen_on(const SocketAddress& where, BindAhead ahead, int type) {
  RawAddress raw = to_raw(where);
  Fd fd(::socket(raw.storage.ss_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Error{listen_code(errno), "cannot open a socket: " + reason(errno)};
  if (ahead == BindAhead::kYes) enable_bind_ahead(fd.get(), raw.storage.ss_family);
  enable(fd.get(), SOL_SOCKET, SO_REUSEPORT);
  if (type == SOCK_STREAM) {
    enable(fd.get(), SOL_SOCKET, SO_REUSEADDR);
    // Accepted connections inherit it, which saves a system call for each.
    enable(fd.get(), IPPROTO_TCP, TCP_NODELAY);
    keep_alive(fd.get());
  }
  if (raw.storage.ss_family == AF_INET6) {
    const int both_families = 0;
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &both_families, sizeof both_families);
  }
  const bool bound = ::bind(fd.get(), raw.get(), raw.size) == 0;
  if (!bound || (type == SOCK_STREAM && ::listen(fd.get(), kBacklog) != 0)) {
    const int error = errno;
    return Error{listen_code(error), "cannot listen on " + to_string(where.address) +
                                         (type == SOCK_STREAM ? " port " : " UDP port ") + std::to_string(where.port) +
                                         ": " + reason(error)};
  }
  return fd;
}

}  // namespace

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

namespace {

Result<Fd> listen_anywhere(const std::optional<IpAddress>& address, std::uint16_t port, BindAhead ahead, int type) {
  if (address) return listen_on({*address, port}, ahead, type);
  Result<Fd> both = listen_on({IpAddress{}, port}, BindAhead::kNo, type);
  if (both.ok()) return both;
  IpAddress any_v4;
  any_v4.bytes[10] = any_v4.bytes[11] = 0xff;
  Result<Fd> v4 = listen_on({any_v4, port}, BindAhead::kNo, type);
  return v4.ok() ? std::move(v4) : std::move(both);
}

bool taken(const std::optional<IpAddress>& address, std::uint16_t port, int type) {
  RawAddress raw = to_raw({address.value_or(IpAddress{}), port});
  const Fd probe(::socket(raw.storage.ss_family, type | SOCK_CLOEXEC, 0));
  if (!probe.valid()) return false;
  // Two sockets for datagrams would share a port by it.
  if (type == SOCK_STREAM) enable(probe.get(), SOL_SOCKET, SO_REUSEADDR);
  // Another process may have bound an address ahead, too.
  enable_bind_ahead(probe.get(), raw.storage.ss_family);
  return ::bind(probe.get(), raw.get(), raw.size) != 0 && errno == EADDRINUSE;
}

}  // namespace

Result<Fd> listen_tcp(const std::optional<IpAddress>& address, std::uint16_t port, BindAhead ahead) {
  return listen_anywhere(address, port, ahead, SOCK_STREAM);
}

Result<Fd> listen_udp(const std::optional<IpAddress>& address, std::uint16_t port, BindAhead ahead) {
  return listen_anywhere(address, port, ahead, SOCK_DGRAM);
}

bool port_taken(const std::optional<IpAddress>& address, std::uint16_t port) {
  return taken(address, port, SOCK_STREAM);
}

bool udp_port_taken(const std::optional<IpAddress>& address, std::uint16_t port) {
  return taken(address, port, SOCK_DGRAM);
}

bool address_present(const IpAddress& address) {
  RawAddress raw = to_raw({address, 0});
  const Fd probe(::socket(raw.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe.valid()) return errno != EAFNOSUPPORT;
  return ::bind(probe.get(), raw.get(), raw.size) == 0 || listen_code(errno) != ErrorCode::kNotFound;
}

Result<Fd> connect_tcp(const SocketAddress& peer) { return connect_tcp_marked(peer, 0); }

Result<Fd> connect_tcp_marked(const SocketAddress& peer, std::uint32_t mark) {
  RawAddress raw = to_raw(peer);
  Fd fd(::socket(raw.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Error{ErrorCode::kResourceExhausted, reason(errno)};
  // A connection that is to be steered must not leave without its mark.
  if (mark != 0 && ::setsockopt(fd.get(), SOL_SOCKET, SO_MARK, &mark, sizeof mark) != 0) {
    return Error{ErrorCode::kPermissionDenied, reason(errno)};
  }
  enable(fd.get(), IPPROTO_TCP, TCP_NODELAY);
  if (::connect(fd.get(), raw.get(), raw.size) != 0 && errno != EINPROGRESS) {
    return Error{ErrorCode::kUnavailable, reason(errno)};
  }
  return fd;
}

Result<Fd> connect_udp(const SocketAddress& peer) { return connect_udp_marked(peer, 0); }

Result<Fd> connect_udp_marked(const SocketAddress& peer, std::uint32_t mark) {
  RawAddress raw = to_raw(peer);
  Fd fd(::socket(raw.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return Error{ErrorCode::kResourceExhausted, reason(errno)};
  // As of connect_tcp_marked.
  if (mark != 0 && ::setsockopt(fd.get(), SOL_SOCKET, SO_MARK, &mark, sizeof mark) != 0) {
    return Error{ErrorCode::kPermissionDenied, reason(errno)};
  }
  if (::connect(fd.get(), raw.get(), raw.size) == 0) return fd;
  // Every port is in use.
  const bool exhausted = errno == EAGAIN || errno == EADDRNOTAVAIL || errno == ENOBUFS;
  return Error{exhausted ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable, reason(errno)};
}

void keep_alive(int fd, const KeepAlive& settings) {
  enable(fd, SOL_SOCKET, SO_KEEPALIVE);
  set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, settings.idle.count());
  set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, settings.between.count());
  set_number(fd, IPPROTO_TCP, TCP_KEEPCNT, settings.probes);
}

void limit_unacknowledged(int fd, std::chrono::milliseconds time) {
  set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, time.count());
}

int connect_error(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

Fd accept_tcp(int listener, SocketAddress& peer, int& error) {
  RawAddress raw;
  Fd fd(::accept4(listener, raw.get(), &raw.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  error = fd.valid() ? 0 : errno;
  if (fd.valid()) peer = from_raw(raw);
  return fd;
}

SocketAddress local_address(int fd) {
  RawAddress raw;
  if (::getsockname(fd, raw.get(), &raw.size) != 0) return {};
  return from_raw(raw);
}

// By syscall(): the wrappers of the C library are cancellation points, which costs each call two atomic operations once
// there is a second thread.
namespace {

Transfer receive(int fd, std::span<char> into, int flags) {
  for (;;) {
    const long got = ::syscall(SYS_recvfrom, fd, into.data(), into.size(), flags, nullptr, nullptr);
    if (got > 0) return {Transfer::Kind::kDone, static_cast<std::size_t>(got)};
    if (got == 0) return {Transfer::Kind::kEnd};
    if (errno == EINTR) continue;
    return {errno == EAGAIN || errno == EWOULDBLOCK ? Transfer::Kind::kWouldBlock : Transfer::Kind::kFailed};
  }
}

}  // namespace

Transfer receive(int fd, std::span<char> into) { return receive(fd, into, 0); }

Transfer peek(int fd, std::span<char> into) { return receive(fd, into, MSG_PEEK); }

Transfer send(int fd, std::span<const iovec> pieces) {
  // A head and a small body are copied together sooner than the kernel reads a list of two.
  std::array<char, kFlatBytes> flat;
  iovec one{};
  if (pieces.size() > 1 && total_bytes(pieces) <= flat.size()) {
    one.iov_base = flat.data();
    for (const iovec& piece : pieces) {
      if (piece.iov_len == 0) continue;
      std::memcpy(flat.data() + one.iov_len, piece.iov_base, piece.iov_len);
      one.iov_len += piece.iov_len;
    }
    pieces = {&one, 1};
  }
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  for (;;) {
    const long sent = pieces.size() == 1
                          ? ::syscall(SYS_sendto, fd, pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL, nullptr, 0)
                          : ::syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
    if (sent >= 0) return {Transfer::Kind::kDone, static_cast<std::size_t>(sent)};
    if (errno == EINTR) continue;
    return {errno == EAGAIN || errno == EWOULDBLOCK ? Transfer::Kind::kWouldBlock : Transfer::Kind::kFailed};
  }
}

void reset_on_close(int fd) {
  const linger hard{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

void ignore_sigpipe() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace edge::net
