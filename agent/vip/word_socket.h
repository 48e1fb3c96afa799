// The UDP socket for agents' messages.
#pragma once

#include <netinet/in.h>

#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::vip {

sockaddr_in6 socket_address(const net::SocketAddress& address);
/// Opens one socket for both address families; kUnavailable says why that failed.
Result<net::Fd> open_words(const net::SocketAddress& listen);

}  // namespace edge::agent::vip
