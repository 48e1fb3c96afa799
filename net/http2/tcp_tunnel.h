// Tunnels of TCP over HTTP/2: CONNECT (RFC 9113 §8.5). Between a stream and its session, which speak HTTP/1.1 text, a
// tunnel is an upgrade to a protocol of this name; on the wire it is a plain CONNECT, without `:scheme` and `:path`.
#pragma once

#include <string_view>

#include "base/text/ascii.h"
#include "net/http1/head.h"

namespace edge::net::http2 {

inline constexpr std::string_view kTcpTunnel = "connect-tcp";

/// Returns whether a request asks for a tunnel. A client of HTTP/1.1 may write the same: who lets nobody tunnel but
/// certain peers looks at the peer, too.
inline bool asks_for_tcp(const http1::RequestHead& head) {
  return head.upgrade && head.minor != 0 && head.method == http1::Method::kGet &&
         head.body.kind == http1::BodyKind::kNone && !head.fields.repeated(http1::KnownField::kUpgrade) &&
         equals_ignoring_case(head.fields.value(http1::KnownField::kUpgrade), kTcpTunnel);
}

}  // namespace edge::net::http2
