// A connection, or socket of datagrams, whose packets carry a mark (SO_MARK), which rules of the node's routing may ask
// for.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "net/socket.h"

namespace edge::net {

/// As connect_tcp. Mark 0: none. kPermissionDenied: the process lacks CAP_NET_ADMIN.
Result<Fd> connect_tcp_marked(const SocketAddress& peer, std::uint32_t mark);
/// As connect_udp, and likewise.
Result<Fd> connect_udp_marked(const SocketAddress& peer, std::uint32_t mark);

}  // namespace edge::net
