// Sockets for event loops: non-blocking, close-on-exec, no SIGPIPE, no Nagle delay.
#pragma once

#include <sys/uio.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/ip.h"
#include "base/result.h"

namespace edge::net {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

/// An address and a port, of a peer or to listen on.
struct SocketAddress {
  IpAddress address;
  std::uint16_t port = 0;
  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

/// Whether an address that the node does not have yet may be bound (IP_FREEBIND): connections are accepted once the
/// node has it.
enum class BindAhead : std::uint8_t { kNo, kYes };
/// Opens a listening socket with SO_REUSEPORT. No address: every address of the node, both families where IPv6 is
/// available. Port 0: chosen by the system. Errors: kAlreadyExists (the port is in use), kPermissionDenied, kNotFound
/// (not an address of this node, or not one to listen on) or kUnavailable, each with the reason.
Result<Fd> listen_tcp(const std::optional<IpAddress>& address, std::uint16_t port, BindAhead ahead = BindAhead::kNo);
/// Opens a socket for datagrams likewise, bound.
Result<Fd> listen_udp(const std::optional<IpAddress>& address, std::uint16_t port, BindAhead ahead = BindAhead::kNo);
/// Returns whether another socket of any process listens there, which SO_REUSEPORT would hide.
bool port_taken(const std::optional<IpAddress>& address, std::uint16_t port);
bool udp_port_taken(const std::optional<IpAddress>& address, std::uint16_t port);
/// Returns whether the node has this address now. True where that cannot be determined.
bool address_present(const IpAddress& address);

/// Starts to connect to `peer`; the socket is writable once connected.
Result<Fd> connect_tcp(const SocketAddress& peer);
/// Opens a socket for datagrams from and to `peer` alone. Error kResourceExhausted: no descriptor or port is free.
Result<Fd> connect_udp(const SocketAddress& peer);
/// When a silent peer is probed, and how many unanswered probes end the connection (RFC 9293 §3.8.4).
struct KeepAlive {
  std::chrono::seconds idle{60};
  std::chrono::seconds between{15};
  int probes = 4;

  /// Returns the time after which a vanished peer is detected.
  std::chrono::seconds found_after() const { return idle + between * probes; }
};
/// Enables TCP keep-alive. Accepted connections inherit it from the listening socket.
void keep_alive(int fd, const KeepAlive& settings = {});
/// Sets how long sent data may be unacknowledged before the connection ends (RFC 5482); the system's default is about
/// 15 minutes. Also ends the connection of a peer that accepts no data for so long.
void limit_unacknowledged(int fd, std::chrono::milliseconds time);
/// Returns the result of a pending connect: 0 or an errno.
int connect_error(int fd);

/// Accepts a pending connection; invalid when there is none. `error` is then the errno.
Fd accept_tcp(int listener, SocketAddress& peer, int& error);

SocketAddress local_address(int fd);

/// The result of a transfer. `bytes` is valid for kDone only, and never 0 then.
struct Transfer {
  enum class Kind : std::uint8_t { kDone, kWouldBlock, kEnd, kFailed };
  Kind kind;
  std::size_t bytes = 0;
};
Transfer receive(int fd, std::span<char> into);
/// The same, without consuming.
Transfer peek(int fd, std::span<char> into);
/// Sends one or more pieces, which are not changed.
Transfer send(int fd, std::span<const iovec> pieces);

/// Makes a later close reset the connection.
void reset_on_close(int fd);
/// Process-wide; writing to a closed connection is then an error of `send`, not a signal.
void ignore_sigpipe();

}  // namespace edge::net
