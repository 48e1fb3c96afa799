// The key of a WebSocket's handshake and what answers it (RFC 6455 §4.2.2): HTTP/2 has neither, HTTP/1.1 wants both.
#pragma once

#include <string>
#include <string_view>

#include "net/http1/head.h"

namespace edge::net::http2 {

inline constexpr std::string_view kWebSocketKey = "sec-websocket-key";

/// What the client sent; empty: nothing.
std::string_view web_socket_key(const http1::RequestHead& head);
/// Value of Sec-WebSocket-Accept for it.
std::string web_socket_accept(std::string_view key);

}  // namespace edge::net::http2
