// The PROXY protocol: the first bytes of a connection, by which a proxy tells whose connection it carries on. Versions
// 1 (a line of text) and 2 (binary), as HAProxy's `proxy-protocol.txt` describes them.
//
// Read strictly and bounded; whether the peer may be believed is the caller's question.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/socket.h"

namespace edge::net {

/// Longest line of version 1, with its CRLF.
inline constexpr std::size_t kMaxProxyLine = 107;
/// Longest header of version 2 that is read, type-length-values and all; a sender may add 65,535 bytes.
inline constexpr std::size_t kMaxProxyHeader = 4096;

struct ProxyHeader {
  /// The connection's two ends. Absent: the sender speaks for itself (LOCAL), or does not know, or the address is of no
  /// family that is read (UNIX); then the peer's own addresses hold.
  struct Ends {
    SocketAddress source;
    SocketAddress destination;
  };
  std::optional<Ends> ends;
  /// Bytes of the header: the connection's own begin there.
  std::size_t size = 0;
};

enum class ProxyHeaderState { kComplete, kIncomplete, kFault };

/// Reads a header at the start of `bytes`. kIncomplete: all of `bytes` may be the beginning of one. Never looks at more
/// than kMaxProxyHeader bytes. `out` is valid when the state is kComplete.
ProxyHeaderState parse_proxy_header(std::string_view bytes, ProxyHeader& out);

enum class ProxyVersion { kV1, kV2 };

/// The header for a connection from `source` that arrived at `destination`.
std::string write_proxy_header(ProxyVersion version, const SocketAddress& source, const SocketAddress& destination);
/// The header of a connection that is the sender's own: LOCAL, or UNKNOWN where the version has no such word.
std::string write_own_proxy_header(ProxyVersion version);

}  // namespace edge::net
