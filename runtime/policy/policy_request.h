// The input of policies for one request, and the answer that they may give in place of the backend.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "net/clock.h"
#include "net/http1/head.h"
#include "net/tls/peer_identity.h"

namespace edge::runtime {

class RequestEdits;

struct PolicyRequest {
  const net::http1::RequestHead& head;
  std::string_view host;  ///< canonical
  std::string_view path;  ///< normalised
  /// The client's address, from the forwarding fields of trusted proxies.
  IpAddress source;
  /// The client's connection, or the trusted proxy's, is encrypted.
  bool secure = false;
  net::Time now;
  /// The connection is a trusted proxy's: what its fields tell of the request's origin is believed.
  bool peer_trusted = false;
  std::string_view request_id{};
  /// The edits of the policies before; null: none.
  const RequestEdits* edits = nullptr;
  /// The complete body, where a policy of the chain needs it (Authentication::body_limit).
  std::string_view body{};
  /// What the client has shown in the handshake; null: no certificate, or none was requested.
  const net::tls::PeerIdentity* certificate = nullptr;
};

/// Corresponds to the session's Reply, on which this room does not depend.
struct PolicyAnswer {
  int status = 403;
  std::string_view reason;
  std::string_view text;
  std::string fields;  ///< complete lines
  /// Replaces the text; its Content-Type is in `fields`.
  std::string body{};
  /// An empty body is sent as it is.
  bool own_body = false;
  /// Likewise, a body of the program.
  std::string_view program_body{};
};

}  // namespace edge::runtime
