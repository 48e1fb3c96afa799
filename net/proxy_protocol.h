// The PROXY protocol: the first bytes of a connection, with the addresses of the connection that a proxy forwards.
// Versions 1 (a line of text) and 2 (binary), as in HAProxy's `proxy-protocol.txt`.
//
// Parsed strictly and with limits; whether to trust the peer is decided by the caller.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/socket.h"

namespace edge::net {

/// Longest line of version 1, with its CRLF.
inline constexpr std::size_t kMaxProxyLine = 107;
/// Longest accepted header of version 2, including type-length-values; a sender may add 65,535 bytes.
inline constexpr std::size_t kMaxProxyHeader = 4096;

struct ProxyHeader {
  /// The addresses of the connection. Absent: the sender's own connection (LOCAL), or unknown, or an unsupported
  /// address family (UNIX); then the peer's own addresses apply.
  struct Ends {
    SocketAddress source;
    SocketAddress destination;
  };
  std::optional<Ends> ends;
  /// Size of the header in bytes: the connection's own data begins there.
  std::size_t size = 0;
};

enum class ProxyHeaderState { kComplete, kIncomplete, kFault };

/// Parses a header at the start of `bytes`. kIncomplete: all of `bytes` may be the beginning of one. Never reads more
/// than kMaxProxyHeader bytes. `out` is valid when the state is kComplete.
ProxyHeaderState parse_proxy_header(std::string_view bytes, ProxyHeader& out);

enum class ProxyVersion { kV1, kV2 };

enum class ProxyTransport { kStream, kDatagram };

/// Returns the header for a connection from `source` that arrived at `destination`. Version 1 has no word for
/// datagrams.
std::string write_proxy_header(ProxyVersion version, const SocketAddress& source, const SocketAddress& destination,
                               ProxyTransport transport = ProxyTransport::kStream);
/// Returns the header of the sender's own connection: LOCAL, or UNKNOWN in version 1.
std::string write_own_proxy_header(ProxyVersion version);

}  // namespace edge::net
