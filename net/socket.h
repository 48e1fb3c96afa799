// Sockets as the loops use them: non-blocking, close-on-exec, no SIGPIPE, no Nagle delay.
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

/// An address and a port, as the peer of a connection or the place to listen on.
struct SocketAddress {
  IpAddress address;
  std::uint16_t port = 0;
  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

/// Whether an address may be bound that the node does not have yet (IP_FREEBIND): what comes for it is accepted from
/// the moment that the node has it.
enum class BindAhead : std::uint8_t { kNo, kYes };
/// A listening socket with SO_REUSEPORT. No address: every address of the node, both families where IPv6 is there.
/// Port 0: chosen by the system. Otherwise kAlreadyExists (the port is in use), kPermissionDenied, kNotFound (no
/// address of this node, or none that can be listened on) or kUnavailable, each with the reason.
Result<Fd> listen_tcp(const std::optional<IpAddress>& address, std::uint16_t port, BindAhead ahead = BindAhead::kNo);
/// Whether another socket listens there already, of whatever process; SO_REUSEPORT would hide it.
bool port_taken(const std::optional<IpAddress>& address, std::uint16_t port);
/// Whether the node has this address now. True where that cannot be found out.
bool address_present(const IpAddress& address);

/// A socket on its way to `peer`; ready to write once connected.
Result<Fd> connect_tcp(const SocketAddress& peer);
/// When a peer that says nothing is asked whether it is still there, and how often in vain (RFC 9293 §3.8.4).
struct KeepAlive {
  std::chrono::seconds idle{60};
  std::chrono::seconds between{15};
  int probes = 4;

  /// After which a peer that is gone is known to be.
  std::chrono::seconds found_after() const { return idle + between * probes; }
};
/// Has a peer that vanished without a word end the connection. Connections that a listening socket accepts inherit it.
void keep_alive(int fd, const KeepAlive& settings = {});
/// For how long what was sent may go unacknowledged before the connection ends (RFC 5482); the system's quarter of an
/// hour without it. A peer that takes nothing for so long counts as gone, too.
void limit_unacknowledged(int fd, std::chrono::milliseconds time);
/// Outcome of a connect that was under way: 0 or an errno.
int connect_error(int fd);

/// A connection that waits on the listening socket; invalid when none does. `error` is then the errno.
Fd accept_tcp(int listener, SocketAddress& peer, int& error);

SocketAddress local_address(int fd);

/// What a transfer came to. `bytes` counts for kDone alone, and is never 0 then.
struct Transfer {
  enum class Kind : std::uint8_t { kDone, kWouldBlock, kEnd, kFailed };
  Kind kind;
  std::size_t bytes = 0;
};
Transfer receive(int fd, std::span<char> into);
/// The same, without taking what it shows.
Transfer peek(int fd, std::span<char> into);
/// Sends from one or more pieces, none of them changed.
Transfer send(int fd, std::span<const iovec> pieces);

/// Makes a later close reset the connection instead of ending it.
void reset_on_close(int fd);
/// Process-wide; a peer that went away is an error of `send`, not a signal.
void ignore_sigpipe();

}  // namespace edge::net
