// A flow of datagrams that a process hands to the one that takes over: the endpoint that it has, and the socket to it.
#pragma once

#include <cstdint>

#include "base/ip.h"
#include "net/socket.h"

namespace edge::runtime {

struct HandedFlow {
  /// The listening socket that its datagrams come to (net::socket_cookie), which the two processes share.
  std::uint64_t listening = 0;
  net::SocketAddress client{};
  IpAddress local{};  ///< all zero: the address that the listening socket is bound to
  std::uint64_t backend_id = 0;
  net::SocketAddress endpoint{};
  bool goes_on = false;  ///< the client has sent more after it was answered
  net::Fd socket;        ///< connected to the endpoint
};

}  // namespace edge::runtime
