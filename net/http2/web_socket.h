// The key of a WebSocket handshake and its answer (RFC 6455 §4.2.2), which HTTP/1.1 requires and HTTP/2 does not have.
#pragma once

#include <string>
#include <string_view>

#include "net/http1/head.h"

namespace edge::net::http2 {

inline constexpr std::string_view kWebSocketKey = "sec-websocket-key";

/// Returns the client's key; empty: none.
std::string_view web_socket_key(const http1::RequestHead& head);
/// Returns Sec-WebSocket-Accept for a key.
std::string web_socket_accept(std::string_view key);

}  // namespace edge::net::http2
