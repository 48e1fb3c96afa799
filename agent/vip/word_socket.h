// The UDP socket that agents hear each other by.
#pragma once

#include <netinet/in.h>

#include "base/result.h"
#include "net/socket.h"

namespace edge::agent::vip {

sockaddr_in6 socket_address(const net::SocketAddress& address);
/// One socket of both families; kUnavailable says why there is none.
Result<net::Fd> open_words(const net::SocketAddress& listen);

}  // namespace edge::agent::vip
