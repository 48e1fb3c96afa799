// What policies are told of a request, and what they may answer in place of the backend.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ip.h"
#include "net/clock.h"
#include "net/http1/head.h"

namespace edge::runtime {

class RequestEdits;

struct PolicyRequest {
  const net::http1::RequestHead& head;
  std::string_view host;  ///< canonical
  std::string_view path;  ///< normalised
  /// The client, as far as proxies that are trusted tell of it.
  IpAddress source;
  /// The client's connection, or the trusted proxy's with it, is encrypted.
  bool secure = false;
  net::Time now;
  std::string_view request_id{};
  /// What the policies before said of the request's fields; null: nothing.
  const RequestEdits* edits = nullptr;
  /// Whole, where a policy of the chain asks for it (Authentication::body_limit).
  std::string_view body{};
};

/// As a Reply of the session, of which this room knows nothing.
struct PolicyAnswer {
  int status = 403;
  std::string_view reason;
  std::string_view text;
  std::string fields;  ///< whole lines
  /// In place of the text, as it is; its Content-Type stands in `fields`.
  std::string body{};
};

}  // namespace edge::runtime
