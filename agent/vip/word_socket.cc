#include "agent/vip/word_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace edge::agent::vip {

sockaddr_in6 socket_address(const net::SocketAddress& address) {
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(address.port);
  std::memcpy(&to.sin6_addr, address.address.bytes.data(), address.address.bytes.size());
  return to;
}

Result<net::Fd> open_words(const net::SocketAddress& listen) {
  net::Fd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Error{ErrorCode::kUnavailable, "cannot open a UDP socket for other agents"};
  const int off = 0;
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const sockaddr_in6 own = socket_address(listen);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0) return fd;
  return Error{ErrorCode::kUnavailable,
               "cannot hear other agents on UDP port " + std::to_string(listen.port) + ": " + std::strerror(errno)};
}

}  // namespace edge::agent::vip
